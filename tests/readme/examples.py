"""Runs the README's examples against the real daemon, and compares with what the README shows.

    python3 tests/readme/examples.py ATTND        (make readme-check)

A block of code is run by its language: `sh` by sh, unless it begins with make, docker or bash (what they do is tested
elsewhere) and without its lines that serve; `python` by this Python; `html` in a real browser. A block `json` or `text`
right behind one shows its output: JSON as values (numbers to 1e-6, for not every processor rounds alike; "…" stands for
anything), text as words, and what a page shows row by row. The README's address stands for the daemon's own, which is
any free port. The list of contents is held to lead to every section."""

import functools
import html.parser
import http.server
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("make", "docker", "bash")
TOLERANCE = 1e-6
SECONDS = 120


def blocks(readme):
    """(language, code, shown language or None, shown text): each block, with the one that shows its output."""
    found = [(m.group(1), m.group(2), m.start(), m.end()) for m in BLOCK.finditer(readme)]
    for i, (language, code, _, end) in enumerate(found):
        if language not in ("sh", "python", "html"):
            continue
        behind = found[i + 1] if i + 1 < len(found) else None
        if behind and behind[0] in ("json", "text") and len(readme[end:behind[2]].split()) == 0:
            yield language, code, behind[0], behind[1]
        else:
            yield language, code, None, ""


def same(shown, got, where="answer"):
    """Raises where two JSON values differ."""
    if shown == "…":
        return
    if isinstance(shown, (int, float)) and isinstance(got, (int, float)) and not isinstance(shown, bool):
        assert math.isclose(shown, got, rel_tol=0, abs_tol=TOLERANCE), f"{where}: README {shown}, now {got}"
    elif isinstance(shown, dict) and isinstance(got, dict):
        assert list(shown) == list(got), f"{where}: README has {list(shown)}, now {list(got)}"
        for name in shown:
            same(shown[name], got[name], f"{where}/{name}")
    elif isinstance(shown, list) and isinstance(got, list):
        assert len(shown) == len(got), f"{where}: README has {len(shown)} elements, now {len(got)}"
        for i, pair in enumerate(zip(shown, got)):
            same(*pair, f"{where}/{i}")
    else:
        assert shown == got, f"{where}: README {shown!r}, now {got!r}"


def compare(kind, shown, got):
    if kind == "json":
        same(json.loads(shown), json.loads(got))
    elif kind == "text":
        assert shown.split() == got.split(), f"README shows\n{shown}\nbut now it is\n{got}"


class Cells(html.parser.HTMLParser):
    """The text of a page's table cells, a line for each row."""

    def __init__(self):
        super().__init__()
        self.text, self.inside = "", False

    def handle_starttag(self, tag, attributes):
        self.inside = tag in ("td", "th")

    def handle_endtag(self, tag):
        self.inside = False
        if tag in ("td", "th"):
            self.text += " "
        if tag == "tr":
            self.text += "\n"

    def handle_data(self, data):
        if self.inside:
            self.text += data


def run_shell(code, folder):
    lines = [line for line in code.splitlines() if not re.match(r"attnd serve|.*attnd serve", line)]
    return subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=folder, check=True, stdout=subprocess.PIPE,
                          text=True, timeout=SECONDS).stdout


def run_python(code, folder):
    return subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
                          timeout=SECONDS).stdout


def run_page(code, folder):
    """What a browser shows of the page, served from an origin of its own."""
    pathlib.Path(folder, "page.html").write_text(code)
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://localhost:{server.server_port}/page.html"
    # The browser's own sandbox is not to be had by root or in a container; the page is the README's.
    page = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000", "--dump-dom", url],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=SECONDS).stdout
    server.shutdown()
    cells = Cells()
    cells.feed(page)
    return cells.text


def start(attnd):
    daemon = subprocess.Popen([attnd, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    address = None
    for line in daemon.stdout:
        found = re.search(r"listening on http://(127\.0\.0\.1:\d+)", line)
        address = found.group(1) if found else address
        if line == "ready\n":
            break
    threading.Thread(target=daemon.stdout.read, daemon=True).start()
    assert address, "the daemon did not become ready"
    return daemon, address


def missing_contents(readme):
    """Headings that the list of contents at the top does not lead to, and what it leads to that is no heading, as GitHub
    names them: small letters, digits and hyphens."""
    top, *sections = re.split(r"^## (.*)$", readme, flags=re.MULTILINE)
    headings = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in sections[::2]}
    return headings ^ set(re.findall(r"\(#([^)]*)\)", top))


def main():
    attnd = os.path.abspath(sys.argv[1])
    os.environ["PATH"] = f"{os.path.dirname(attnd)}:{os.environ['PATH']}"
    readme = pathlib.Path("README.md").read_text()
    run = {"sh": run_shell, "python": run_python, "html": run_page}
    passed = failed = 0
    for name in missing_contents(readme):
        failed += 1
        print(f"README contents: '#{name}' stands only there or only as a heading")
    daemon, address = start(attnd)
    os.environ["ATTND_LISTEN"] = address  # for commands that ask the daemon on this machine
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath("build"), f"{folder}/build")
        for language, code, kind, shown in blocks(readme):
            if language == "sh" and code.split(None, 1)[0] in NOT_RUN:
                continue
            first = code.strip().splitlines()[0]
            try:
                code = re.sub(r"(localhost|127\.0\.0\.1):8080", address, code)
                compare(kind, shown, run[language](code, folder))
                passed += 1
            except (AssertionError, ValueError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"README example '{first}': {error}")
    daemon.terminate()
    if daemon.wait(SECONDS) != 0:
        failed += 1
        print(f"the daemon ended with {daemon.returncode}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
