"""Requests and answers as the bench sends and reads them: vectors made up, as JSON or as safetensors."""

import array
import base64
import itertools
import json
import math
import random
import struct


class Tensor:
    """float32, row-major."""

    def __init__(self, shape, numbers):
        self.shape = list(shape)
        self.numbers = array.array("f", numbers)

    @property
    def size_in_bytes(self):
        return 4 * len(self.numbers)

    @classmethod
    def made_up(cls, *shape):
        draw = random.Random(1).random
        return cls(shape, (2 * draw() - 1 for _ in range(math.prod(shape))))


def lists(x, digits):
    """Numbers of 9 digits, as float32 is written, or of up to 17, as Python writes a float64."""
    if digits == 9:
        texts = [f"{number:.9g}" for number in x.numbers]
    else:
        draw = random.Random(2).random
        texts = [repr(number + 1e-9 * draw()) for number in x.numbers]
    for size in reversed(x.shape):
        pieces = iter(texts)
        texts = ["[" + ",".join(piece) + "]" for piece in iter(lambda: list(itertools.islice(pieces, size)), [])]
    return texts[0]


def as_json(x, digits=9, **more):
    """What more there is comes last."""
    members = [f'"inputs":{lists(x, digits)}', *(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in more.items())]
    return ("{" + ",".join(members) + "}").encode()


def as_v2(x, **parameters):
    """By the Open Inference Protocol, one sequence, nested lists; the parameters come last."""
    return (f'{{"inputs":[{{"name":"inputs","shape":{json.dumps([1, *x.shape])},"datatype":"FP32","data":[{lists(x, 9)}]}}],'
            f'"parameters":{json.dumps(parameters)}}}').encode()


def as_base64(x, **more):
    inputs = {"dtype": "f32", "shape": x.shape, "data": base64.b64encode(x.numbers.tobytes()).decode()}
    return json.dumps({"inputs": inputs, **more}).encode()


def as_safetensors(x):
    header = json.dumps({"inputs": {"dtype": "F32", "shape": x.shape, "data_offsets": [0, x.size_in_bytes]}}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + x.numbers.tobytes()


def flat(lists):
    while isinstance(lists[0], list):
        lists = list(itertools.chain.from_iterable(lists))
    return lists


def tensors(answer):
    """The numbers of outputs and attention in an answer, JSON or safetensors."""
    names = ("outputs", "attention")
    if answer.field("Content-Type") != "application/x-safetensors":
        document = json.loads(answer.body)
        return [flat(document[name]) for name in names]
    size = struct.unpack_from("<Q", answer.body)[0]
    header = json.loads(answer.body[8:8 + size])
    found = []
    for name in names:
        begin, end = header[name]["data_offsets"]
        found.append(array.array("f", answer.body[8 + size + begin:8 + size + end]))
    return found


def apart(here, there):
    """The largest difference, as a part of the largest number; infinite where the counts differ."""
    if len(here) != len(there):
        return math.inf
    return max(abs(a - b) for a, b in zip(here, there)) / max(map(abs, here))
