"""What `make bench` measures on this machine, as one table and as one JSON file.

    python bench.py ATTND FILE.json [--quick]

`attnd bench` beside PyTorch, where this Python has it, in turns; what requests and answers cost (wire.py); and `attnd bench`
again for each kernel set of OpenBLAS and each vector width that run here. Times of one line compare with each other, not with those
of another run.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from wire import measure_wire

CORES = ["Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "ARMV8",
         "NEOVERSEN1"]


def torch_seconds(torch, layers, batch, length, width, heads, maps, causal):
    """One forward pass of nn.MultiheadAttention with maps; without, what its fast path computes, by
    scaled_dot_product_attention where this PyTorch has it."""
    layer, x, hidden = layers.setdefault((batch, length, width, heads), None) or (None, None, None)
    if layer is None:
        layer = torch.nn.MultiheadAttention(width, heads, batch_first=True).eval()
        x = torch.rand(batch, length, width) * 2 - 1
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        layers.clear()  # one at a time: the maps of several would fill the memory
        layers[batch, length, width, heads] = layer, x, hidden

    def split(y):
        return y.view(batch, length, heads, width // heads).transpose(1, 2)

    def forward():
        if maps or not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            return layer(x, x, x, need_weights=maps, average_attn_weights=False, attn_mask=hidden if causal else None)
        q, k, v = (split(y) for y in torch.nn.functional.linear(x, layer.in_proj_weight, layer.in_proj_bias)
                   .chunk(3, dim=-1))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return layer.out_proj(y.transpose(1, 2).reshape(batch, length, width))

    with torch.inference_mode():
        forward()
        calls, began = 0, time.perf_counter()
        while calls == 0 or time.perf_counter() - began < 0.004:
            forward()
            calls += 1
        took = (time.perf_counter() - began) / calls
    time.sleep(0.01)  # its threads look for more work for a while; ours are next
    return took


def find_torch(workers):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(workers)
    return torch


def answer_asks(torch, asks, answers):
    layers = {}
    answers.write(f"torch {torch.__version__}\n")
    answers.flush()
    for line in asks:
        batch, length, width, heads, maps, causal = (int(word) for word in line.split())
        answers.write(f"{torch_seconds(torch, layers, batch, length, width, heads, maps != 0, causal != 0):.9f}\n")
        answers.flush()


def bench(attnd, arguments, environment=None, torch=None):
    """One run of `attnd bench`: its table and its document; None where it does not run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [attnd, "bench", "--json", file.name, *arguments]
        pipes = []
        if torch:
            asks, answers = os.pipe(), os.pipe()
            pipes = [asks[1], answers[0]]
            command += ["--peer-asks", f"/dev/fd/{pipes[0]}", "--peer-answers", f"/dev/fd/{pipes[1]}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=pipes, text=True,
                                   stderr=None if torch else subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        if torch:
            for pipe in pipes:
                os.close(pipe)
            peer = threading.Thread(target=answer_asks, daemon=True,
                                    args=(torch, os.fdopen(asks[0]), os.fdopen(answers[1], "w")))
            peer.start()
        table = process.stdout.read()
        return (table, json.load(file)) if process.wait() == 0 else None


def variants(attnd):
    """The rows with each kernel set of OpenBLAS, then with each vector width, as far as they run here."""
    found = []
    for core in CORES:
        version = subprocess.run([attnd, "version"], env={**os.environ, "OPENBLAS_CORETYPE": core}, capture_output=True,
                                 text=True)
        if version.returncode == 0 and json.loads(version.stdout)["blas"]["core"].lower() == core.lower():
            found.append(({"OPENBLAS_CORETYPE": core}, core))
    for vectors in ("plain", "avx2", "avx512"):
        if subprocess.run([attnd, "config", "--vectors", vectors], capture_output=True).returncode == 0:
            found.append(({"ATTND_VECTORS": vectors}, vectors))
    for environment, name in found:
        result = bench(attnd, ["--quick"], environment)
        if result:
            yield {"variant": name, **{key: result[1]["measured"][key] for key in ("limit", "rows")}}


def print_variants(rows):
    print("\nmilliseconds (and share of the limit) by OpenBLAS's kernels and by the width of attnd's own vector code")
    for row in rows:
        print(f"{row['variant']:<15} {row['limit']['gflops']:7.1f} GFLOP/s  " +
              "  ".join(f"{each['ms']:.2f} ({each['share']:.2f})" for each in row["rows"]))


def main():
    attnd, path, quick = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--quick"]
    version = json.loads(subprocess.run([attnd, "version"], capture_output=True, text=True, check=True).stdout)
    torch = find_torch(version["workers"])
    result = bench(attnd, sys.argv[3:], torch=torch)
    if not result:
        sys.exit("attnd bench failed")
    table, document = result
    print(table, end="")
    print("" if torch else "no PyTorch in this Python (make bench PYTHON=…): nothing to compare with")
    document["wire"] = measure_wire(attnd, quick)
    document["variants"] = list(variants(attnd))
    print_variants(document["variants"])
    with open(path, "w") as file:
        json.dump(document, file, indent=1)
    print(f"\nall of it: {path}")


if __name__ == "__main__":
    main()
