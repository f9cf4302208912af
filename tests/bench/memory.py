"""How much memory the daemon takes while a body arrives and while an answer is read slowly, as the kernel counts it.

Each figure is of a daemon of its own. What is received tells last that it wants no work: `"plan": true`, under /v2, which
has no plan, a layer that is not there. So it has all been read, and nothing is computed.
"""

import contextlib
import math
import time

import bodies
from client import Client, request
from processes import daemon, forget_peak, resident

MIB = 1 << 20
RECEIVED = (8192, 1024)  # 32 MiB of float32
SENT, HEADS = (2, 768, 384), 12  # 59 MB of maps and outputs


@contextlib.contextmanager
def warm(attnd, *arguments):
    """A daemon that has answered once, small; with its connection and what is resident then."""
    small = bodies.as_json(bodies.Tensor.made_up(2, 384), plan=True)
    with daemon(attnd, "--max-body", "1GiB", *arguments) as (process, port), contextlib.closing(Client(port)) as client:
        client.ask(request("POST", "/v1/attention", small, "application/json"))
        yield process, client, resident(process)


def grown(process, before, answer, status=200):
    if answer.status != status:
        raise RuntimeError(answer.body[:500])
    return resident(process, "VmHWM") - before


def grown_receiving(attnd, target, body, status):
    with warm(attnd) as (process, client, before):
        forget_peak(process)
        answer = client.ask(request("POST", target, body, "application/json"))
        return grown(process, before, answer, status)


def grown_sending(attnd, weights):
    """From the answer's first bytes on, while its reader takes a piece now and then; the result is there by then. And how
    long the answer is."""
    asked = request("POST", "/v1/attention", bodies.as_safetensors(bodies.Tensor.made_up(*SENT)),
                    "application/x-safetensors", "application/json")
    with warm(attnd, "--model", f"m={weights}") as (process, client, before):
        client.send(asked)
        client.await_answer()
        forget_peak(process)
        answer = client.read(pause=lambda: time.sleep(0.002))
        return grown(process, before, answer), len(answer.body)


def received(x):
    """Name, target, body and status of each."""
    plain, v2 = "/v1/attention?model=plain", "/v2/models/plain/infer"
    yield "9 digits", plain, bodies.as_json(x, 9, plan=True), 200
    yield "17 digits", plain, bodies.as_json(x, 17, plan=True), 200
    yield "base64", plain, bodies.as_base64(x, plan=True), 200
    yield "under /v2", v2, bodies.as_v2(x, layer=1), 404


def measure_memory(attnd, weights, targets):
    x = bodies.Tensor.made_up(*RECEIVED)
    for name, target, body, status in received(x):
        took = grown_receiving(attnd, target, body, status)
        targets.add(f"memory while {len(body) / 1e6:.0f} MB of JSON arrive, {name}", (took - MIB) / x.size_in_bytes,
                    "× tensor, + 1 MiB", at_most=1.3, bytes=took, tensor_bytes=x.size_in_bytes)
    took, size = grown_sending(attnd, weights)
    result = 4 * (math.prod(SENT) + SENT[0] * HEADS * SENT[1] ** 2)
    targets.add(f"memory while {size / 1e6:.0f} MB of JSON leave, a slow reader", (took - result) / MIB, "MiB + result",
                at_most=16, bytes=took, result_bytes=result)
