"""A large request over loopback, 8 sequences of 128 positions, width 768, 12 heads, outputs and all maps back, beside the
engine's own time and beside what one would write instead (peer_service.py).

In turns, with one client for all; medians of the ratios of each turn.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import sys

import bodies
from client import Client, request
from processes import daemon, median, program

SHAPE, HEADS = (8, 128, 768), 12
# How far answers may be apart: else their times do not compare.
NEAR = 1e-5
PEERS = {
    "json": ("FastAPI, json and PyTorch", 25, ["fastapi", "uvicorn", "torch", "numpy"]),
    "orjson": ("FastAPI, orjson and PyTorch", 2.5, ["fastapi", "uvicorn", "torch", "numpy", "orjson"]),
}


def lacking():
    """What this Python has not got, of all that the peers need."""
    needed = {module for _, _, modules in PEERS.values() for module in modules}
    return sorted(module for module in needed if not importlib.util.find_spec(module))


def start_peer(kind, weights, workers, stack):
    """Its port, once it serves."""
    service = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_service.py")
    port = stack.enter_context(program(sys.executable, service, kind, weights, str(HEADS), str(workers)))
    if port is None:
        raise RuntimeError(f"{service} {kind} did not start")
    return port


def ask_in_turns(clients, requests, turns):
    """The answers of each to its request, turn by turn. All must say the same."""
    first = {name: bodies.tensors(client.ask(requests[name])) for name, client in clients.items()}
    for name, found in first.items():
        for here, there in zip(first["JSON"], found):
            if not bodies.apart(here, there) <= NEAR:
                raise RuntimeError(f"{name}: answers other numbers than attnd, {bodies.apart(here, there)} apart")
    taken = {name: [] for name in clients}
    for _ in range(turns):
        for name, client in clients.items():
            taken[name].append(client.ask(requests[name]).timing())
    return taken


def measure_large(attnd, weights, workers, turns, targets):
    x = bodies.Tensor.made_up(*SHAPE)
    text = bodies.as_json(x)
    requests = {"JSON": request("POST", "/v1/attention", text, "application/json"),
                "safetensors": request("POST", "/v1/attention", bodies.as_safetensors(x), "application/x-safetensors",
                                       "application/x-safetensors")}
    missing = lacking()
    with contextlib.ExitStack() as stack:
        _, port = stack.enter_context(daemon(attnd, "--model", f"m={weights}"))
        ports = {name: port for name in requests}
        if not missing:
            for kind in PEERS:
                ports[kind] = start_peer(kind, weights, workers, stack)
                requests[kind] = request("POST", "/", text, "application/json")
        clients = {name: stack.enter_context(contextlib.closing(Client(port))) for name, port in ports.items()}
        taken = ask_in_turns(clients, requests, turns)
    add_rows(taken, targets)
    if missing:
        print(f"  no FastAPI in this Python (it lacks {', '.join(missing)}): nothing to compare with")
    else:
        print("  with " + ", ".join(f"{each} {importlib.metadata.version(each)}" for each in PEERS["orjson"][2]))


def add_rows(taken, targets):
    for name, most in (("JSON", 4.5), ("safetensors", 1.6)):
        targets.add(f"8x128 D768 H12 with all maps, {name} both ways",
                    median([each.seconds / each.compute for each in taken[name]]), "× computing", at_most=most,
                    ms=median([each.seconds for each in taken[name]]) * 1e3,
                    compute_ms=median([each.compute for each in taken[name]]) * 1e3)
    for kind, (words, least, _) in PEERS.items():
        ratios = [peer.seconds / ours.seconds for peer, ours in zip(taken.get(kind, []), taken["JSON"])]
        targets.add(f"that JSON request, against {words}", median(ratios), "× as fast", at_least=least,
                    ms=median([each.seconds * 1e3 for each in taken.get(kind, [])]))
