#!/usr/bin/env python3
"""Asks the daemon through the unmodified tritonclient[http], as its users would.

    client.py BINARY        (make triton-check)

Synchronous, with callbacks and with asyncio; inputs and outputs as JSON and as bytes; compressed both ways; health,
metadata, configuration, statistics, refusals; and the README's own example. What comes back is compared with
/v1/attention. Exits 1 at the first difference."""

import asyncio
import contextlib
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException

passed = 0


def check(what, holds):
    global passed
    if not holds:
        sys.exit(f"tritonclient: {what}")
    passed += 1


def start(binary):
    daemon = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    address = None
    for line in daemon.stdout:
        found = re.search(r"listening on http://(\S+)", line)
        address = found.group(1) if found else address
        if line == "ready\n":
            return daemon, address
    raise SystemExit(f"{binary} ended before it was ready")


def vectors(sequences, length, width):
    return np.random.default_rng(7).standard_normal((sequences, length, width), dtype=np.float32)


def expected(address, model, x, **options):
    body = json.dumps({"model": model, "inputs": x.tolist(), **options}).encode()
    with urllib.request.urlopen(f"http://{address}/v1/attention", body) as answer:
        found = json.load(answer)
    return np.array(found["outputs"], np.float32), np.array(found["attention"], np.float32)


def tensor(name, x, datatype="FP32", binary=True, kind=triton):
    made = kind.InferInput(name, x.shape, datatype)
    made.set_data_from_numpy(x, binary_data=binary)
    return made


def close(a, b):
    return a is not None and a.shape == b.shape and np.abs(a - b).max() <= 4e-6 * np.abs(b).max()


def infer_all_ways(client, address):
    x = vectors(2, 5, 512)
    outputs, maps = expected(address, "demo", x, causal=True, layer=1)
    for binary_in in (True, False):
        for binary_out in (None, True, False):
            for packed in (None, "gzip", "deflate"):
                wanted = None if binary_out is None else [
                    triton.InferRequestedOutput(name, binary_data=binary_out) for name in ("attention", "outputs")]
                answer = client.infer("demo-maps", [tensor("inputs", x, binary=binary_in)], outputs=wanted,
                                      request_id="a request", parameters={"causal": True, "layer": 1},
                                      request_compression_algorithm=packed, response_compression_algorithm=packed)
                what = f"binary {binary_in} {binary_out}, {packed}"
                check(f"outputs, {what}", close(answer.as_numpy("outputs"), outputs))
                check(f"maps, {what}", close(answer.as_numpy("attention"), maps))
                check(f"id, {what}", answer.get_response()["id"] == "a request")
    plain = client.infer("demo", [tensor("inputs", x)], model_version="1", parameters={"causal": True, "layer": 1},
                         timeout=60_000_000, priority=1)
    check("a name without maps", plain.as_numpy("attention") is None and close(plain.as_numpy("outputs"), outputs))


def infer_types_and_masks(client, address):
    x = vectors(2, 3, 4).astype(np.float16)
    mask = np.array([[1, 1, 0], [1, 0, 1]])
    outputs, maps = expected(address, "tiny", x.astype(np.float32), attention_mask=mask.tolist())
    for name, given, datatype in (("attention_mask", mask.astype(bool), "BOOL"), ("attention_mask", mask.astype(np.int64), "INT64"),
                                  ("attention_mask", mask.astype(np.uint16), "UINT16"), ("key_padding_mask", mask == 0, "BOOL")):
        for binary in (True, False):
            answer = client.infer("tiny-maps", [tensor(name, given, datatype, binary), tensor("inputs", x, "FP16")])
            check(f"maps with {name} as {datatype}", close(answer.as_numpy("attention"), maps))
            check(f"outputs with {name} as {datatype}", close(answer.as_numpy("outputs"), outputs))
    context = vectors(2, 4, 4)
    crossed = client.infer("tiny-maps", [tensor("inputs", x.astype(np.float32)), tensor("context", context), tensor("values", context)])
    check("cross-attention", close(crossed.as_numpy("attention"),
                                   expected(address, "tiny", x.astype(np.float32), context=context.tolist())[1]))


def infer_with_callbacks(client, address):
    x = vectors(1, 6, 4)
    outputs, _ = expected(address, "tiny", x)
    asked = [client.async_infer("tiny", [tensor("inputs", x)]) for _ in range(16)]
    check("async_infer", all(close(one.get_result().as_numpy("outputs"), outputs) for one in asked))


async def infer_with_asyncio(address):
    x = vectors(1, 6, 4)
    outputs, _ = expected(address, "tiny", x)
    async with triton_aio.InferenceServerClient(address) as client:
        check("asyncio: ready", await client.is_server_ready())
        answers = await asyncio.gather(*[
            client.infer("tiny", [tensor("inputs", x, binary=i % 2 == 0, kind=triton_aio)],
                         response_compression_algorithm="gzip" if i % 3 == 0 else None) for i in range(12)])
        check("asyncio: infer", all(close(answer.as_numpy("outputs"), outputs) for answer in answers))


def describe(client):
    check("live, ready", client.is_server_live() and client.is_server_ready())
    check("models ready", client.is_model_ready("tiny") and client.is_model_ready("tiny-maps", "1"))
    check("none ready", not client.is_model_ready("none") and not client.is_model_ready("tiny", "2"))
    check("server", client.get_server_metadata()["name"] == "attnd")
    model = client.get_model_metadata("tiny-maps")
    check("outputs", [output["name"] for output in model["outputs"]] == ["outputs", "attention"])
    check("inputs", model["inputs"][0] == {"name": "inputs", "datatype": "FP32", "shape": [-1, -1, 4]})
    config = client.get_model_config("tiny", "1")
    check("config", config["name"] == "tiny" and not config["input"][0]["optional"])
    index = client.get_model_repository_index()
    check("index", [model["name"] for model in index][:2] == ["tiny", "tiny-maps"])


def count(client):
    before = client.get_inference_statistics("plain")["model_stats"][0]
    client.infer("plain", [tensor("inputs", vectors(3, 2, 8))])
    after = client.get_inference_statistics("plain", "1")["model_stats"][0]
    check("counts", before["inference_count"] == 0 and after["inference_count"] == 3 and after["execution_count"] == 1)
    check("nanoseconds", after["inference_stats"]["success"]["ns"] > 0)
    check("all models", len(client.get_inference_statistics()["model_stats"]) == 6)


def refuse(client):
    x = vectors(1, 2, 3)
    refusals = (
        ("404", "no model 'none'", lambda: client.infer("none", [tensor("inputs", x)])),
        ("422", "takes 4", lambda: client.infer("tiny", [tensor("inputs", x)])),
        ("422", "no output 'attention'", lambda: client.infer(
            "tiny", [tensor("inputs", vectors(1, 2, 4))], outputs=[triton.InferRequestedOutput("attention")])),
        ("501", "not offered", lambda: client.infer(
            "tiny", [tensor("inputs", vectors(1, 2, 4))], outputs=[triton.InferRequestedOutput("outputs", class_count=1)])),
        ("501", "not offered", lambda: client.infer("tiny", [tensor("inputs", vectors(1, 2, 4))], sequence_id=5)),
        ("501", "not offered", lambda: client.load_model("tiny")),
        ("501", "not offered", client.get_system_shared_memory_status),
        ("501", "not offered", client.get_log_settings),
        ("501", "not offered", client.get_trace_settings),
    )
    for status, text, ask in refusals:
        try:
            ask()
        except InferenceServerException as error:
            check(f"{status} {text}, not {error.status()} {error.message()}",
                  status in error.status() and text in error.message())
        else:
            check(f"{status} {text} did not come", False)
    check("the next request", client.is_server_live())


def run_readme(address):
    page = pathlib.Path("README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"^```py\n(.*?)^```\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL).groups()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code.replace("127.0.0.1:8080", address), {})
    check(f"the README shows\n{shown}\nbut now it is\n{said.getvalue()}", said.getvalue().split() == shown.split())


def main():
    daemon, address = start(sys.argv[1])
    try:
        client = triton.InferenceServerClient(address, concurrency=4)
        describe(client)
        infer_all_ways(client, address)
        infer_types_and_masks(client, address)
        infer_with_callbacks(client, address)
        asyncio.run(infer_with_asyncio(address))
        count(client)
        refuse(client)
        run_readme(address)
        client.close()
    finally:
        daemon.send_signal(signal.SIGTERM)
        ended = daemon.wait(60)
    check("the daemon's end", ended == 0)
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()
