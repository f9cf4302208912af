"""What one would write instead: attention as a FastAPI service of a page, with PyTorch, to measure attnd beside it.

    python peer_service.py json|orjson WEIGHTS.safetensors HEADS THREADS

One layer; POST / takes {"inputs": N×L×D lists} and answers {"outputs": …, "attention": …} as lists, with the maps of all
heads. `json`: Python's own JSON and plain lists all the way; `orjson`: orjson, which writes NumPy's arrays itself. One
uvicorn worker, with what makes it fast (httptools, uvloop) where that is installed. Prints its port, serves until it is
terminated.
"""

import json
import socket
import struct
import sys

import fastapi
import numpy as np
import torch
import uvicorn


def read_weights(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        numbers = file.read()
    return {name: torch.from_numpy(np.frombuffer(numbers[slice(*each["data_offsets"])], np.float32)
                                   .reshape(each["shape"]).copy())
            for name, each in header.items() if name != "__metadata__"}


def load_layer(path, heads):
    weights = {name.removeprefix("layers.0."): each for name, each in read_weights(path).items()}
    layer = torch.nn.MultiheadAttention(weights["in_proj_weight"].shape[1], heads, batch_first=True).eval()
    layer.load_state_dict(weights)
    return layer


def make_service(kind, layer):
    service = fastapi.FastAPI()

    def attend(x):
        with torch.inference_mode():
            return layer(x, x, x, need_weights=True, average_attn_weights=False)

    async def with_json(request: fastapi.Request):
        outputs, attention = attend(torch.tensor((await request.json())["inputs"]))
        return fastapi.responses.JSONResponse({"outputs": outputs.tolist(), "attention": attention.tolist()})

    async def with_orjson(request: fastapi.Request):
        import orjson
        body = orjson.loads(await request.body())
        outputs, attention = attend(torch.from_numpy(np.array(body["inputs"], np.float32)))
        text = orjson.dumps({"outputs": outputs.numpy(), "attention": attention.numpy()},
                            option=orjson.OPT_SERIALIZE_NUMPY)
        return fastapi.Response(text, media_type="application/json")

    service.post("/")({"json": with_json, "orjson": with_orjson}[kind])
    return service


def main():
    kind, path, heads, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    listener = socket.create_server(("127.0.0.1", 0))
    service = make_service(kind, load_layer(path, int(heads)))
    # Connections wait for their turn while others are measured.
    server = uvicorn.Server(uvicorn.Config(service, log_level="warning", timeout_keep_alive=600))
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
