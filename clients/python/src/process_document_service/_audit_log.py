"""Verifies an exported audit log: that its chain has no gap and that no entry was changed. Has no dependencies."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

AuditLogFault: TypeAlias = Literal[
    "invalid_entry",
    "wrong_hash",
    "gap",
    "broken_chain",
    "other_organization",
    "missing_hash",
    "wrong_start",
]
"""Why a log is not as it was written."""


class AuditLogVerificationError(Exception):
    """The log was changed. `line` is the first line that is wrong, from 1."""

    reason: AuditLogFault
    line: int

    def __init__(self, reason: AuditLogFault, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}" if line > 0 else message)
        self.reason = reason
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        """Let pickle restore the error, for example from another process."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


@dataclass(frozen=True)
class VerifiedAuditLog:
    """A verified log. An empty one has no `first`, `last` and `hash`."""

    entries: int
    first: int | None = None
    last: int | None = None
    hash: str | None = None
    """The hash of the last entry. Store it elsewhere: it proves later that nothing before it was changed."""


def verify_audit_log(
    source: str | bytes | Iterable[bytes],
    *,
    known_hashes: Sequence[str] = (),
    first: int | None = None,
) -> VerifiedAuditLog:
    """Verify an export in the format `jsonl`, complete or from any `seq`.

    `source` is its content, or its bytes in parts, such as a file that is open in binary mode. `known_hashes` are
    hashes that you stored earlier: the log must contain all of them, so it was not cut off or written anew since then.
    `first` is the `seq` of the first entry, such as 1 for a complete log. Without it, the log may begin anywhere.

    Raises `AuditLogVerificationError` if the log was changed.
    """
    missing = set(known_hashes)
    start: int | None = None
    previous: dict[str, Any] | None = None
    count = 0
    for line in _read_lines(source):
        count += 1
        entry = _parse_entry(line, count)
        if previous is None:
            _check_start(entry, first)
            start = entry["seq"]
            # an export may begin right after the entry whose hash was stored
            missing.discard(entry["previous_hash"])
        else:
            _check_order(previous, entry, count)
        content = {name: value for name, value in entry.items() if name != "hash"}
        if hashlib.sha256(_to_canonical_json(content).encode()).hexdigest() != entry["hash"]:
            raise AuditLogVerificationError("wrong_hash", count, "The hash does not match the entry")
        missing.discard(entry["hash"])
        previous = entry
    if missing:
        raise AuditLogVerificationError("missing_hash", 0, f"The log does not contain {sorted(missing)[0]}")
    if previous is None:
        if first is not None:
            raise AuditLogVerificationError("wrong_start", 0, f"The log is empty and does not begin with {first}")
        return VerifiedAuditLog(count)
    return VerifiedAuditLog(count, start, previous["seq"], previous["hash"])


def _check_start(entry: dict[str, Any], first: int | None) -> None:
    if first is not None and entry["seq"] != first:
        raise AuditLogVerificationError("wrong_start", 1, f"The log begins with {entry['seq']}, not with {first}")
    if entry["seq"] == 1 and entry["previous_hash"] != "0" * 64:
        raise AuditLogVerificationError("broken_chain", 1, "The first entry follows another one")


def _check_order(previous: dict[str, Any], entry: dict[str, Any], line: int) -> None:
    if entry["organization_id"] != previous["organization_id"]:
        raise AuditLogVerificationError(
            "other_organization", line, "The entry belongs to another organization"
        )
    if entry["seq"] != previous["seq"] + 1:
        raise AuditLogVerificationError("gap", line, f"{entry['seq']} follows {previous['seq']}")
    if entry["previous_hash"] != previous["hash"]:
        raise AuditLogVerificationError("broken_chain", line, "The entry does not follow the one before it")


def _parse_entry(line: bytes, number: int) -> dict[str, Any]:
    """Parse a line. It must be canonical, so that no byte of it can be another one."""
    invalid = AuditLogVerificationError("invalid_entry", number, "The line is not an entry as exported")
    try:
        text = line.decode()
        entry: dict[str, Any] = json.loads(text)
        if not _is_entry(entry) or _to_canonical_json(entry) != text:
            raise invalid
    except (ValueError, RecursionError):
        raise invalid from None
    return entry


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    seq = value.get("seq")
    texts = [value.get(name) for name in ("organization_id", "previous_hash", "hash")]
    return type(seq) is int and 1 <= seq <= 2**53 - 1 and all(isinstance(text, str) for text in texts)


def _to_canonical_json(value: object) -> str:
    """Write canonical JSON (RFC 8785): the fields are sorted by UTF-16 code units, and there are no spaces."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_to_text(name)}:{_to_canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_to_canonical_json(item) for item in value) + "]"
    if isinstance(value, str):
        return _to_text(value)
    # an entry has no fractions, whose canonical text differs between languages
    if isinstance(value, float):
        raise ValueError("An entry holds a fraction")
    return json.dumps(value)


def _to_text(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", written)


def _read_lines(source: str | bytes | Iterable[bytes]) -> Iterator[bytes]:
    """Split the log into lines, without the line feeds."""
    if isinstance(source, str):
        source = source.encode()
    rest = b""
    for part in [source] if isinstance(source, bytes) else source:
        *lines, rest = (rest + part).split(b"\n")
        yield from lines
    if rest:
        yield rest


def main() -> int:
    """Verify a file. Return 0 if it is as exported, else 1."""
    parser = argparse.ArgumentParser(description="Verifies an exported audit log (format jsonl).")
    parser.add_argument("file", help="the export")
    parser.add_argument("--hash", action="append", default=[], help="a hash that you stored earlier; repeatable")
    parser.add_argument("--from", type=int, dest="first", help="seq of the first entry, 1 for a complete log")
    options = parser.parse_args()
    try:
        with open(options.file, "rb") as file:
            log = verify_audit_log(file, known_hashes=options.hash, first=options.first)
    except AuditLogVerificationError as error:
        print(error, file=sys.stderr)
        return 1
    if log.entries == 0:
        print("The export has no entries.")
    else:
        print(f"{log.entries} entries, {log.first} to {log.last}, are as exported. The newest hash is {log.hash}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
