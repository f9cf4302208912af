"""An HTTP client that does as little as it can, so that what is measured is the server: requests are made before the clock
starts, answers are read into memory that is there already and taken apart after it has stopped. The same for everybody
that is measured."""

import collections
import socket
import time

# Seconds from the first byte of the request to the last of the answer, and those that the server says it computed.
Timing = collections.namedtuple("Timing", "seconds compute")

ROOM = 256 << 20
AT_ONCE = 1 << 20
MOST_HEAD = 1 << 13
LAST = b"\r\n0\r\n\r\n"  # of an answer in chunks


class Answer:
    def __init__(self, head, body, seconds):
        self.head, self.body, self.seconds = head, body, seconds
        self.status = int(head.split(b" ", 2)[1])

    def field(self, name):
        return field(self.head, name)

    def timing(self):
        stages = self.field("Server-Timing")
        compute = dict(each.strip().split(";dur=") for each in stages.split(","))["compute"] if stages else "nan"
        return Timing(self.seconds, float(compute) / 1e3)


def field(head, name):
    for line in head.split(b"\r\n"):
        if line.lower().startswith(name.lower().encode() + b":"):
            return line.split(b":", 1)[1].strip().decode()
    return None


class Client:
    memory = memoryview(bytearray(ROOM))

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.size = 0  # of what has been read of an answer

    def close(self):
        self.socket.close()

    def send(self, request):
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def ask(self, request):
        self.send(request)
        return self.read()

    def await_answer(self):
        """Until it begins."""
        self.socket.recv(1, socket.MSG_PEEK)

    def read_piece(self):
        count = self.socket.recv_into(self.memory[self.size:self.size + AT_ONCE])
        if count == 0:
            raise ConnectionError("closed in mid-answer, or a longer one than there is room for")
        self.size += count

    def read_head(self):
        """What stands before the body, the empty line included."""
        self.size = 0
        while True:
            self.read_piece()
            head, end, _ = bytes(self.memory[:min(self.size, MOST_HEAD)]).partition(b"\r\n\r\n")
            if end:
                return head + end

    def read(self, pause=None):
        """An answer; `pause` is called after each of its pieces."""
        head = self.read_head()
        length = field(head, "Content-Length")
        whole = len(head) + int(length) if length else None
        while self.size != whole if length else self.memory[self.size - len(LAST):self.size] != LAST:
            if pause:
                pause()
            self.read_piece()
        seconds = time.perf_counter() - self.began
        body = bytes(self.memory[len(head):self.size])
        return Answer(head, body if length else unchunked(body), seconds)


def unchunked(body):
    pieces, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        if size == 0:
            return b"".join(pieces)
        pieces.append(body[end + 2:end + 2 + size])
        at = end + 2 + size + 2


def request(method, target, body=b"", content_type=None, accept=None):
    fields = {"Host": "localhost", "Content-Type": content_type, "Accept": accept,
              "Content-Length": str(len(body)) if body else None}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode() + body
