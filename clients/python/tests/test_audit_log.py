"""Tests the verification of audit logs with the log of the docs, changed in every way."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from process_document_service import AuditLogVerificationError, VerifiedAuditLog, verify_audit_log
from process_document_service._audit_log import _to_canonical_json

LOG = (Path(__file__).parents[3] / "docs/audit-log/example.jsonl").read_bytes()
LINES = LOG.splitlines()
HASHES: list[str] = [json.loads(line)["hash"] for line in LINES]


def join(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def find_fault(log: bytes, **checks: Any) -> str:
    try:
        verify_audit_log(log, **checks)
    except AuditLogVerificationError as error:
        return f"{error.reason} {error.line}"
    return "none"


def rewrite() -> bytes:
    """The log with other words in the third entry, and a chain that fits them."""
    written = []
    previous = "0" * 64
    for at, line in enumerate(LINES):
        entry = {**json.loads(line), "previous_hash": previous}
        del entry["hash"]
        if at == 2:
            entry["details"] = {"title": "Other"}
        previous = hashlib.sha256(_to_canonical_json(entry).encode()).hexdigest()
        written.append(_to_canonical_json({**entry, "hash": previous}).encode())
    return join(written)


def test_a_complete_log_is_accepted() -> None:
    verified = VerifiedAuditLog(6, 1, 6, HASHES[-1])
    parts = [LOG[at : at + 7] for at in range(0, len(LOG), 7)]
    for source in (LOG, LOG.decode(), io.BytesIO(LOG), parts, LOG.rstrip()):
        assert verify_audit_log(source, first=1, known_hashes=HASHES) == verified


def test_a_part_is_accepted_from_any_entry_on() -> None:
    for at, known in enumerate(HASHES):
        log = verify_audit_log(join(LINES[at:]), known_hashes=[known])
        assert (log.first, log.last) == (at + 1, 6)
    assert find_fault(join(LINES[2:]), first=1) == "wrong_start 1"
    assert find_fault(join(LINES[2:]), known_hashes=[HASHES[1]]) == "none"
    assert verify_audit_log(b"") == VerifiedAuditLog(0)


def test_every_flipped_bit_is_found() -> None:
    unnoticed = []
    # without the last line feed the log is the same
    for at in range(len(LOG) - 1):
        changed = bytearray(LOG)
        changed[at] ^= 1 << at % 8
        if find_fault(bytes(changed)) == "none":
            unnoticed.append(at)
    assert unnoticed == []


def test_swaps_gaps_and_repeated_entries_are_found() -> None:
    one, two, three, four, *_ = LINES
    assert find_fault(join([one, three, two, four])) == "gap 2"
    assert find_fault(join([two, one])) == "gap 2"
    assert find_fault(join([one, two, four])) == "gap 3"
    assert find_fault(join([one, one, two])) == "gap 2"
    assert find_fault(join([one, b"", two])) == "invalid_entry 2"
    assert find_fault(join([*LINES[:3], rewrite().splitlines()[3]])) == "broken_chain 4"


def test_fractions_and_other_values_are_no_entries() -> None:
    entry = json.loads(LINES[0])
    for line in (b"[]", b"null", b"1", b"\xff", b"[" * 5_000, json.dumps({**entry, "details": 1.5}).encode()):
        assert find_fault(join([line])) == "invalid_entry 1"
    assert _to_canonical_json({"\U0001f511": 1, "\ufb33": "\ud83d", "a": True}) == (
        '{"a":true,"\U0001f511":1,"\ufb33":"\\ud83d"}'
    )


def test_a_cut_off_or_rewritten_log_is_found_by_a_stored_hash() -> None:
    assert find_fault(join(LINES[:5])) == "none"
    assert find_fault(join(LINES[:5]), known_hashes=[HASHES[5]]) == "missing_hash 0"
    assert find_fault(b"", known_hashes=[HASHES[5]]) == "missing_hash 0"
    assert find_fault(b"", first=1) == "wrong_start 0"
    assert find_fault(rewrite()) == "none"
    for known in HASHES[2:]:
        assert find_fault(rewrite(), known_hashes=[known]) == "missing_hash 0"
