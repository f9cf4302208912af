"""From start to ready, and what an idle daemon takes."""

import mmap
import os
import subprocess
import time

from processes import daemon, median, resident

MIB = 1 << 20


def start(attnd, *arguments):
    """Milliseconds from start to ready, and resident bytes then."""
    began = time.perf_counter()
    with daemon(attnd, *arguments) as (process, _):
        return (time.perf_counter() - began) * 1e3, resident(process)


def read_ms(path):
    """Of a whole file by read(2), into fresh memory."""
    began = time.perf_counter()
    with open(path, "rb", buffering=0) as file, mmap.mmap(-1, os.path.getsize(path)) as memory:
        at, view = 0, memoryview(memory)
        while at < len(view):
            at += file.readinto(view[at:])
        view.release()
    return (time.perf_counter() - began) * 1e3


def measure_starts(attnd, targets, folder, quick):
    """Of the demo models and of half a gigabyte of weights, in turns with reading the file."""
    path = os.path.join(folder, "large.safetensors")
    subprocess.run([attnd, "init", "--d-model", "2048", "--heads", "16", "--layers", "1" if quick else "8", "-o", path],
                   check=True, stdout=subprocess.DEVNULL)
    size = os.path.getsize(path)
    turns = [(*start(attnd, "--model", f"large={path}"), read_ms(path)) for _ in range(3 if quick else 7)]
    os.remove(path)
    targets.add(f"start to ready, {size / 1e6:.0f} MB of weights, against reading them",
                median([ready / reading for ready, _, reading in turns]), "× reading", at_most=1.5,
                ms=median([ready for ready, _, _ in turns]))
    targets.add("start to ready, demo models", median([start(attnd)[0] for _ in range(9)]), "ms", at_most=100)
    targets.add("idle memory beyond the weights", (median([used for _, used, _ in turns]) - size) / MIB, "MiB", at_most=32)
