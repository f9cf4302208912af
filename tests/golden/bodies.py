#!/usr/bin/env python3
"""Writes request bodies as NumPy and safetensors write them: tests/golden/bodies/*. Run by hand; needs NumPy, torch and
safetensors.

    bodies.py FOLDER

Their vectors are all the same, x[n][l][d] = (7·(12n + 4l + d) mod 24) / 8 − 1, so that any reader can tell whether it read
them right: the values are exact in every format.
"""

import pathlib
import struct
import sys

import numpy as np
import safetensors.torch
import torch

X = ((7 * np.arange(24)) % 24 / 8 - 1).reshape(2, 3, 4)


def npy(folder):
    np.save(folder / "f4.npy", X.astype("<f4"))
    np.save(folder / "f2.npy", X.astype("<f2"))
    np.save(folder / "f8.npy", X.astype("<f8"))
    np.save(folder / "big_f4.npy", X.astype(">f4"))
    np.save(folder / "big_f2.npy", X.astype(">f2"))
    np.save(folder / "fortran_f4.npy", np.asfortranarray(X.astype("<f4")))
    np.save(folder / "fortran_big_f8.npy", np.asfortranarray(X.astype(">f8")))
    with open(folder / "version2.npy", "wb") as file:
        np.lib.format.write_array(file, X.astype("<f4"), version=(2, 0))
    with open(folder / "version3.npy", "wb") as file:
        np.lib.format.write_array(file, X.astype("<f4"), version=(3, 0))
    np.save(folder / "single.npy", X[0].astype("<f4"))
    np.save(folder / "single_fortran.npy", np.asfortranarray(X[0].astype("<f4")))


def tensors(folder):
    x = torch.tensor(X, dtype=torch.float32)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    save = lambda name, named, options=None: safetensors.torch.save_file(named, folder / f"{name}.safetensors", options)
    for name, dtype in {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}.items():
        save(name, {"inputs": x.to(dtype)}, {"format": "pt"})
    for name, dtype in {"bool": torch.bool, "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64}.items():
        save(f"mask_{name}", {"inputs": x, "attention_mask": mask.to(dtype)})
    save("options", {"inputs": x}, {"causal": "true", "heads": "1,0", "precision": "3", "tokens": '[["a","b","c"],["d","e","f"]]'})
    save("bias", {"inputs": x, "bias": torch.tensor([0, 0, -torch.inf]).reshape(1, 1, 1, 3)})
    save("ragged", {"inputs.0": x[0].clone(), "inputs.1": x[1, :2].clone(),
                    "attention_mask.0": torch.tensor([1, 1, 0]), "attention_mask.1": torch.tensor([0, 1])})
    save("packed", {"inputs": torch.cat([x[0], x[1, :2]]), "lengths": torch.tensor([3, 2])})
    # A header whose length leaves the numbers where no float32 may lie.
    sound = (folder / "f32.safetensors").read_bytes()
    size = struct.unpack("<Q", sound[:8])[0]
    header = sound[8:8 + size].rstrip()
    header += b" " * (3 - len(header) % 4)
    (folder / "unaligned.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + sound[8 + size:])


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    npy(out)
    tensors(out)
