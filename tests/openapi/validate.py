#!/usr/bin/env python3
"""Checks every answer that the tests recorded (ATTND_RECORD, tests/support/record.h) against the OpenAPI document.

    validate.py DOCUMENT FOLDER

Of each answer: the path and method are described, the status is described for them, the required headers are there and
fit their schemas, the media type is described, the body fits its schema. Of each request for attention that was
answered with 200: its body fits the request's schema and its query has only described parameters. Of the document: each status
and each code that it describes has been seen. Exits 1 when something does not fit or has not been seen, when there is nothing to check,
or when the document itself is no OpenAPI 3.1.
"""

import collections
import json
import pathlib
import re
import sys
import zlib

import jsonschema_rs
import openapi_spec_validator

METHODS = ("get", "head", "post", "put", "delete", "options", "patch", "trace")
# What the headers alone decide, before path and method are looked at.
BEFORE_THE_PATH = {400: "BadHttp", 421: "Misdirected", 431: "HeadersTooLarge"}
# The HTTP parser's own refusals: a bare status and a close.
PARSER_STATUSES = (400, 413, 414, 431, 501, 505)
SHOWN = 40


class Mismatch(Exception):
    pass


def strict_json(data):
    def no_constant(name):
        raise Mismatch(f"{name} in JSON")

    def no_doubles(pairs):
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise Mismatch("a doubled key in JSON")
        return dict(pairs)

    try:
        return json.loads(data.decode("utf-8"), parse_constant=no_constant, object_pairs_hook=no_doubles)
    except ValueError as error:
        raise Mismatch(f"no JSON: {error}") from None


class Document:
    def __init__(self, text):
        self.root = json.loads(text)
        self.validators = {}
        self.codes = set()
        self.paths = [
            (re.compile("/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in path.split("/"))), path)
            for path in self.root["paths"]
        ]
        # Plain paths before those with places for names.
        self.paths.sort(key=lambda pair: pair[1].count("{"))

    def resolved(self, value):
        while "$ref" in value:
            for name in value["$ref"].removeprefix("#/").split("/"):
                value = (self.root if name == "components" else value)[name]
        return value

    def response(self, name):
        return self.root["components"]["responses"][name]

    def find(self, target):
        for pattern, path in self.paths:
            if pattern.fullmatch(target):
                return path
        return None

    def check(self, schema, value, what):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {"allOf": [schema], "components": self.root["components"]}
            self.validators[key] = jsonschema_rs.Draft202012Validator(whole)
        for error in self.validators[key].iter_errors(value):
            place = "/".join(str(part) for part in error.instance_path)
            raise Mismatch(f"{what}, at '/{place}': {error.message[:300]}")


def headers_of(block):
    """Of the last header block: interim answers stand before it."""
    lines = block.strip().split("\r\n\r\n")[-1].split("\r\n")[1:]
    found = collections.defaultdict(list)
    for line in lines:
        name, _, value = line.partition(":")
        found[name.strip().lower()].append(value.strip())
    return found


def check_headers(document, response, headers):
    for name, header in response.get("headers", {}).items():
        header = document.resolved(header)
        values = headers.get(name.lower(), [])
        if len(values) > 1:
            raise Mismatch(f"header {name} stands {len(values)} times")
        if not values:
            if header.get("required"):
                raise Mismatch(f"header {name} is missing")
            continue
        value = values[0]
        if document.resolved(header["schema"]).get("type") == "integer":
            if not value.isdigit():
                raise Mismatch(f"header {name} is no number: {value}")
            value = int(value)
        document.check(header["schema"], value, f"header {name}")


def check_content(document, response, headers, exchange):
    body = exchange["answer"]
    if exchange["method"] == "HEAD" or "content" not in response:
        if body:
            raise Mismatch("a body where none is described")
        return
    media = headers.get("content-type", [""])[0].split(";")[0].strip()
    if media not in response["content"]:
        raise Mismatch(f"media type '{media}' is not described")
    if body is None:
        return
    data = body.encode("latin-1")
    coding = headers.get("content-encoding", [None])[0]
    if coding:
        data = zlib.decompress(data, 31 if coding == "gzip" else 15)
    is_binary = media.startswith("application/x-") or media in ("application/octet-stream", "image/png")
    value = strict_json(data) if media.endswith("json") else data.decode("latin-1" if is_binary else "utf-8")
    document.check(response["content"][media]["schema"], value, "body")
    if exchange["status"] >= 400:
        if value["status"] != exchange["status"]:
            raise Mismatch(f"the problem's status is {value['status']}")
        document.codes.add(value["code"])
        if value["request_id"] != headers["x-request-id"][0]:
            raise Mismatch("the problem's request_id is not X-Request-Id")


def check_request(document, operation, exchange, query):
    # A content type that the request's headers name; text, forms and nothing are JSON as well. What is packed is not looked into.
    binary = any(re.match("content-type: *application/x-(npy|safetensors)|(inference-header-content-length|content-encoding):", h, re.IGNORECASE)
                 for h in exchange["headers"])
    if "requestBody" in operation and exchange["body"] is not None and not binary:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        document.check(schema, strict_json(exchange["body"].encode("latin-1")), "the request's body")
    known = {p["name"] for p in map(document.resolved, operation.get("parameters", [])) if p["in"] == "query"}
    for piece in filter(None, query.split("&")):
        name = piece.split("=")[0]
        if operation.get("operationId") == "attend" and "%" not in name and name not in known:
            raise Mismatch(f"query parameter '{name}' is not described")


def described(document, exchange, path):
    """The response that the document has for an exchange, the operation, and a name for the statistics."""
    method, status = exchange["method"], exchange["status"]
    item = document.root["paths"].get(path, {})
    if path is not None and method.lower() in METHODS and method.isupper() and method.lower() in item:
        operation = item[method.lower()]
        response = operation["responses"].get(str(status))
        if response is None:
            raise Mismatch(f"status {status} is not described")
        return document.resolved(response), operation, (method, path, status)
    if method == "OPTIONS" and exchange["target"] == "*" and status == 204:
        return document.response("Options"), None, None
    expected = "NotFound" if path is None and method != "CONNECT" else "MethodNotAllowed"
    names = {**BEFORE_THE_PATH, 404 if expected == "NotFound" else 405: expected}
    if status not in names:
        raise Mismatch(f"status {status} is not described where the path or method is not")
    return document.response(names[status]), None, None


def check(document, exchange, counts):
    headers = headers_of(exchange["answer_headers"])
    status = exchange["status"]
    if "x-request-id" not in headers:
        if status not in PARSER_STATUSES or "close" not in headers.get("connection", []):
            raise Mismatch("no X-Request-Id")
        counts["refused by the HTTP parser itself"] += 1
        return
    if exchange["method"] is None:
        counts["without a request line"] += 1
        if status not in BEFORE_THE_PATH:
            raise Mismatch(f"status {status} for what has no request line")
        response, operation, name = document.response(BEFORE_THE_PATH[status]), None, None
        exchange["method"] = ""
    else:
        target = re.sub(r"^https?://[^/?]*", "", exchange["target"], flags=re.IGNORECASE)
        path, _, query = target.partition("?")
        response, operation, name = described(document, exchange, document.find(path or "/"))
        if operation is not None and status == 200:
            check_request(document, operation, exchange, query)
            counts["requests checked"] += "requestBody" in operation and exchange["body"] is not None
    check_headers(document, response, headers)
    check_content(document, response, headers, exchange)
    counts["described by path, method and status" if name else "described for any path"] += 1
    return name


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    openapi_spec_validator.validate(json.loads(text))
    document = Document(text)
    counts, seen, wrong, total = collections.Counter(), set(), [], 0
    for file in sorted(pathlib.Path(sys.argv[2]).glob("*.jsonl")):
        with file.open(encoding="ascii") as lines:
            for line in lines:
                exchange = json.loads(line)
                total += 1
                try:
                    seen.add(check(document, exchange, counts))
                except Mismatch as mismatch:
                    wrong.append(f"{exchange['method']} {exchange['target']} → {exchange['status']}: {mismatch}")
    for name, count in sorted(counts.items()):
        print(f"{count:7} {name}")
    pairs = [
        (method.upper(), path, int(status))
        for path, item in document.root["paths"].items()
        for method in METHODS
        if method in item
        for status in item[method]["responses"]
    ]
    print(f"{total:7} answers, {len(wrong)} of them not as described; "
          f"{sum(pair in seen for pair in pairs)} of {len(pairs)} described statuses were seen")
    for line, count in collections.Counter(wrong).most_common(SHOWN):
        print(f"{count}× {line}", file=sys.stderr)
    never = [pair for pair in pairs if pair not in seen]
    unseen = [code for code in document.root["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
              if code not in document.codes]
    for code in unseen:
        print(f"described and never seen: code {code}", file=sys.stderr)
    for method, path, status in never:
        print(f"described and never seen: {method} {path} → {status}", file=sys.stderr)
    if total == 0:
        print("there are no recorded answers to check", file=sys.stderr)
    return 1 if wrong or never or unseen or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
