"""What the wire costs on this machine: requests and answers, memory, starting; each line beside what it is to reach.

    python wire.py ATTND [--quick]
"""

import json
import os
import subprocess
import sys
import tempfile

from alone import measure_numbers
from large import measure_large
from load import measure_livez, measure_small
from memory import measure_memory
from starts import measure_starts
from targets import Targets


def weights_of(attnd, folder, width):
    path = os.path.join(folder, f"{width}.safetensors")
    subprocess.run([attnd, "init", "--d-model", str(width), "--heads", "12", "--layers", "1", "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def measure_wire(attnd, quick):
    """The lines, printed as they are found."""
    targets = Targets()
    version = json.loads(subprocess.run([attnd, "version"], capture_output=True, text=True, check=True).stdout)
    workers = version["workers"]
    turns, seconds = (3, 0.3) if quick else (9, 0.5)
    print("the wire, beside what is to be reached")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(attnd))) as folder:
        large, small = weights_of(attnd, folder, 768), weights_of(attnd, folder, 384)
        measure_numbers(attnd, large, targets, folder)
        measure_large(attnd, large, workers, turns, targets)
        measure_livez(attnd, targets, folder)
        measure_small(attnd, small, workers, targets, folder, turns, seconds)
        measure_memory(attnd, small, targets)
        measure_starts(attnd, targets, folder, quick)
    return targets.rows


if __name__ == "__main__":
    measure_wire(sys.argv[1], sys.argv[2:] == ["--quick"])
