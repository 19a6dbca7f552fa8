"""Runs the sample for Python, whose folder is on its path: cases as JSON on standard input, verdicts on standard output."""
import json
import sys

from verify import is_genuine, is_signed

cases = json.load(sys.stdin.buffer)
verdicts = []
for case in cases:
    secret, body = case["secret"], case["body"].encode()
    genuine = is_genuine(secret, case["id"], case["timestamp"], case["standard"], body, case["now"])
    verdicts.append([is_signed(secret, case["ours"], body), genuine])
print(json.dumps(verdicts))
