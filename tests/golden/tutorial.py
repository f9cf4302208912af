"""The tutorial input, 4 tokens x 512 with 8 heads, through model `demo` over HTTP, against PyTorch on the same weights.

    attnd init --d-model 512 --heads 8 --layers 2 --seed 42 -o demo.safetensors
    attnd serve
    python tests/golden/tutorial.py http://127.0.0.1:8080 demo.safetensors       # needs torch and safetensors

Prints the largest difference of outputs and attention maps for both layers, with and without causal, and exits 1 where
one is over 1e-5 of max(1, the tensor's largest number).
"""

import json
import sys
import urllib.request

import torch
from safetensors.torch import load_file

WIDTH, HEADS, TOKENS, LAYERS = 512, 8, 4, 2


def ask(url: str, layer: int, inputs: torch.Tensor, causal: bool) -> dict:
    body = {"model": "demo", "layer": layer, "inputs": inputs.tolist(), "causal": causal}
    request = urllib.request.Request(url + "/v1/attention", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def by_torch(weights: dict, layer: int, inputs: torch.Tensor, causal: bool) -> dict:
    prefix = f"layers.{layer}."
    mha = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, dtype=torch.float64)
    mha.load_state_dict({name.removeprefix(prefix): t.double() for name, t in weights.items() if name.startswith(prefix)})
    forbidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1) if causal else None
    x = inputs.double()[None]
    with torch.no_grad():
        outputs, attention = mha(x, x, x, attn_mask=forbidden, need_weights=True, average_attn_weights=False)
    return {"outputs": outputs[0], "attention": attention[0]}


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    url, weights = sys.argv[1].rstrip("/"), load_file(sys.argv[2])
    inputs = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(42))
    worst = 0.0
    for layer in range(LAYERS):
        for causal in (False, True):
            got, want = ask(url, layer, inputs, causal), by_torch(weights, layer, inputs, causal)
            for name, tensor in want.items():
                difference = (torch.tensor(got[name], dtype=torch.float64) - tensor).abs().max().item()
                worst = max(worst, difference / max(1.0, tensor.abs().max().item()))
                print(f"layer {layer}, causal {str(causal):5}, {name:9}: largest difference {difference:.3g}")
    sys.exit(0 if worst <= 1e-5 else 1)


if __name__ == "__main__":
    main()
