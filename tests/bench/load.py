"""Many small requests at once, as many a second as the daemon answers: /livez beside the least that libmicrohttpd can
do (programs/bare.c), and small JSON requests beside what decoder, engine and encoder would reach without a wire.

The client is programs/load.c for all, on the same processors as what it asks.
"""

import os
import subprocess

import bodies
from alone import measure_alone
from client import request
from processes import beside, daemon, median, program

CONNECTIONS = 32
SMALL = (16, 384)


def answers_a_second(attnd, port, asked, folder, seconds):
    path = os.path.join(folder, "request")
    with open(path, "wb") as file:
        file.write(asked)
    command = [beside(attnd, "load"), str(port), str(CONNECTIONS), str(seconds), path]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure_livez(attnd, targets, folder):
    """Many short turns: the machine changes its pace within seconds."""
    asked, pairs, turns, seconds = request("GET", "/livez"), [], 31, 0.1
    with daemon(attnd) as (_, port), program(beside(attnd, "bare")) as bare:
        for turn in range(turns + 1):
            pair = [answers_a_second(attnd, each, asked, folder, seconds) for each in (port, bare)]
            if turn > 0:
                pairs.append(pair)
    targets.add(f"/livez, {CONNECTIONS} connections, against bare libmicrohttpd", median([ours / least for ours, least in pairs]),
                "× as many", at_least=0.9, per_second=median([ours for ours, _ in pairs]))


def measure_small(attnd, weights, workers, targets, folder, turns, seconds):
    """The yardstick: a forward pass takes what it takes of all workers while 16 callers ask; decoding and encoding take
    the processor time of one thread, which any worker can spend while the others do the same for other requests."""
    text = bodies.as_json(bodies.Tensor.made_up(*SMALL))
    asked = request("POST", "/v1/attention", text, "application/json")
    shares, rates = [], []
    with daemon(attnd, "--model", f"m={weights}") as (_, port):
        answers_a_second(attnd, port, asked, folder, seconds)
        for _ in range(turns):
            found = measure_alone(attnd, weights, text, 16, folder)
            best = 1e6 / (found["forward_us"] + (found["decode_us"] + found["write_us"]) / workers)
            rates.append(answers_a_second(attnd, port, asked, folder, seconds))
            shares.append(rates[-1] / best)
    targets.add(f"1x16 D384 in JSON, {CONNECTIONS} connections, against engine and codec alone", median(shares), "× as many",
                at_least=0.6, per_second=median(rates), alone=found)
