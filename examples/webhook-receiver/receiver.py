"""Receives webhooks: verifies each request, answers at once, ignores duplicates. Needs only Python 3.9 or newer."""
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
PORT = int(os.environ.get("PORT", "3000"))
MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
MAX_IDS = 10_000

lock = threading.Lock()
# The ids of the last events. Use a table with a unique id instead if your receiver can restart.
processed_ids = OrderedDict()


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.answer(411)
        if int(length) > MAX_BYTES:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        new = add_id(self.headers["webhook-id"])
        # the service waits ten seconds for the answer, so the work comes after it
        self.answer(204)
        if new:
            process_event(json.loads(body))

    def answer(self, status):
        self.send_response(status)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        pass


def process_event(event):
    """Put your work here."""
    print(event["event_type"], event["data"].get("document", {}).get("title", ""), flush=True)


def is_genuine(headers, body):
    """Verifies the signature, and the timestamp to prevent replay attacks (https://www.standardwebhooks.com)."""
    id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    mac = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(mac)
    # during a rotation of the secret there are several signatures
    return any(hmac.compare_digest(one.encode(), expected) for one in signatures.split(" "))


def add_id(id):
    """Returns whether an event is new. Remembers its id."""
    with lock:
        if id in processed_ids:
            return False
        processed_ids[id] = None
        if len(processed_ids) > MAX_IDS:
            processed_ids.popitem(last=False)
        return True


if not SECRET.startswith("whsec_"):
    sys.exit("Set WEBHOOK_SECRET to the secret of the webhook (whsec_…).")
server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print(f"Listening on http://127.0.0.1:{server.server_port}/", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
