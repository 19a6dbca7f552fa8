"""Computes the content hash of a document. Python 3.9 or later, without packages."""
import hashlib
import json
import re
from decimal import Decimal


def content_hash(text):
    """Hashes a document as JSON text: the response of GET /documents/{doc_id}, or the JSON of a public link."""
    # JSON numbers are doubles, as in JavaScript
    document = json.loads(text, parse_int=float)
    fields = {name: document[name] for name in ("title", "version", "department")}
    content = {"v": 1, **fields, "nodes": [to_content(node) for node in document["nodes"]]}
    return "sha256:" + hashlib.sha256(canonical_json(content).encode()).hexdigest()


def to_content(node):
    fields = {name: node[name] for name in ("node_type", "title", "content")}
    return {**fields, "children": [to_content(child) for child in node["children"]]}


def canonical_json(value):
    """Writes a value as canonical JSON (RFC 8785)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{quote(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return format_number(float(value))


def quote(text):
    """Quotes a text. A lone surrogate becomes an escape."""
    escaped = json.dumps(text, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", escaped)


def format_number(number):
    """Formats a double as ECMAScript does: the shortest digits, an exponent from 1e21 and below 1e-6."""
    if number == 0:
        return "0"
    sign, digit_tuple, exponent = Decimal(repr(number)).as_tuple()
    minus = "-" if sign else ""
    all_digits = "".join(map(str, digit_tuple))
    digits = all_digits.rstrip("0")
    point = len(all_digits) + exponent
    if len(digits) <= point <= 21:
        return minus + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"
