#!/usr/bin/env python3
"""Sends the daemon requests made from its own OpenAPI document, fitting and not fitting, and checks every answer.

    fuzz.py BINARY [EXAMPLES]

Starts BINARY with the demo models on a port of the system's choice, lets schemathesis (schemathesis.toml beside this
file; the same seed each time) try up to EXAMPLES requests of each kind on each operation, and stops the daemon, which
must end soundly. Exits 1 when anything was found.
"""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SEED = 20250101
HERE = pathlib.Path(__file__).resolve().parent


def start(binary):
    daemon = subprocess.Popen(
        [binary, "serve", "--listen", "127.0.0.1:0", "--workers", "2", "--max-body", "1MiB", "--memory", "256MiB",
         "--log-level", "warning"],
        stdout=subprocess.PIPE, text=True)
    url = None
    for line in daemon.stdout:
        found = re.match(r"listening on (\S+)", line)
        url = found.group(1) if found else url
        if line.startswith("ready"):
            return daemon, url
    raise SystemExit(f"{binary} ended before it was ready")


def main():
    daemon, url = start(sys.argv[1])
    examples = sys.argv[2] if len(sys.argv) > 2 else "300"
    began = time.monotonic()
    command = [
        pathlib.Path(sys.executable).absolute().with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml",
        "run", f"{url}/openapi.json", "--url", url, "--seed", str(SEED), "--max-examples", examples, "--workers", "2",
        "--phases", "examples,coverage,fuzzing", "--request-timeout", "30", "--output-sanitize", "false",
        "--continue-on-failure", "--warnings", "off", "--no-color"]
    try:
        # A folder of its own: what it remembers of earlier runs would change this one.
        with tempfile.TemporaryDirectory() as folder:
            found = subprocess.run(command, check=False, cwd=folder).returncode
    finally:
        daemon.send_signal(signal.SIGTERM)
        ended = daemon.wait(60)
    print(f"schemathesis: {found}, the daemon: {ended}, {time.monotonic() - began:.0f} s")
    return 1 if found or ended else 0


if __name__ == "__main__":
    sys.exit(main())
