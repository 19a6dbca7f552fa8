"""Runs the Python sample, which must be on the module path: reads cases as JSON from stdin, writes results to stdout."""
import json
import sys

from verify import is_genuine, is_signed

cases = json.load(sys.stdin.buffer)
results = []
for case in cases:
    secret, body = case["secret"], case["body"].encode()
    genuine = is_genuine(secret, case["id"], case["timestamp"], case["standard"], body, case["now"])
    results.append([is_signed(secret, case["ours"], body), genuine])
print(json.dumps(results))
