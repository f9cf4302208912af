"""What a request takes of decoder, engine and encoder alone (programs/alone.c), and what a number costs there."""

import json
import os
import subprocess

import bodies
from processes import beside


def measure_alone(attnd, weights, body, callers, folder):
    path = os.path.join(folder, "body.json")
    with open(path, "wb") as file:
        file.write(body)
    command = [beside(attnd, "alone"), "--model", f"m={weights}", path, str(callers)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure_numbers(attnd, weights, targets, folder):
    """The only lines without a yardstick: they are the least of several, since whatever else a machine does only adds."""
    x = bodies.Tensor.made_up(8, 128, 768)
    for digits in (9, 17):
        found = measure_alone(attnd, weights, bodies.as_json(x, digits), 1, folder)
        targets.add(f"reading JSON, {digits} digits, one core", found["decode_us"] * 1e3 / found["numbers_in"],
                    "ns a number", at_most=20)
    targets.add("writing JSON, one core", found["write_us"] * 1e3 / found["numbers_out"], "ns a number", at_most=25)
