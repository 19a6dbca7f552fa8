"""Runs the Python sample, which must be on the module path: one document as JSON text per line, one hash per line."""
import sys

from content_hash import content_hash

for line in sys.stdin.buffer:
    print(content_hash(line))
