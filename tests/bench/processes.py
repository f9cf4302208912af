"""Programs that are started to be measured, and what the kernel says about them."""

import contextlib
import os
import subprocess


@contextlib.contextmanager
def daemon(attnd, *arguments):
    """attnd itself on a free port, ready; gives (process, port)."""
    process = subprocess.Popen([attnd, "serve", "--listen", "127.0.0.1:0", "--log-level", "error", *arguments],
                               stdout=subprocess.PIPE, text=True)
    try:
        port = None
        for line in process.stdout:
            if line.startswith("listening on "):
                port = int(line.rsplit(":", 1)[1])
            if line == "ready\n":
                break
        if port is None or process.poll() is not None:
            raise RuntimeError("attnd serve did not start")
        yield process, port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def program(*command):
    """Another that prints its port on a line; gives that, None where it does not start."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield int(line) if line else None
    finally:
        process.stdin.close()
        process.terminate()
        process.wait()


def resident(process, field="VmRSS"):
    """Bytes; "VmHWM": the most since the start, or since forget_peak."""
    with open(f"/proc/{process.pid}/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024


def forget_peak(process):
    with open(f"/proc/{process.pid}/clear_refs", "w") as file:
        file.write("5")


def median(values):
    """None of none."""
    return sorted(values)[len(values) // 2] if values else None


def beside(attnd, name):
    """A program of tests/bench/programs, which lies beside the tests of the same build."""
    return os.path.join(os.path.dirname(attnd), "tests", f"bench-{name}")
