/** Faults of webhook receivers, large numbers of them, and changes to webhooks and replicas during delivery. */
import { chaos, delivery, type Fault } from './fault.ts';

/** F13 to F23. */
export const receiverFaults: readonly Fault[] = [
  {
    id: 'F13',
    fault:
      'a receiver hangs, sends its response byte by byte, sends 100 MB, a gzip bomb or 1 MB of headers, or closes the connection in its body',
    promise: 'Each request ends at its timeout of 10 s. Memory does not grow.',
    proofs: [
      chaos('hostile-receivers', 'slow headers', 'only a small part', '1 MB of headers', 'a truncated body'),
      delivery(
        'transport/sender',
        'a response that is too late is a timeout without a status',
        'an endless response body is not read to its end',
        'a slow response body ends at the timeout and keeps the status',
        'a refused or closed connection has its own error code',
      ),
      chaos('slow-receivers', 'F13:'),
    ],
  },
  {
    id: 'F14',
    fault:
      '3xx to this machine; 410; 429 and 503 with `Retry-After` in seconds, as a date, in the past, absurd or malformed',
    promise:
      'A redirect is not followed. A 410 ends the delivery and disables the webhook. `Retry-After` lengthens a pause, to at most one hour.',
    proofs: [chaos('receiver-responses', 'F14:'), delivery('transport/sender', 'a redirect is not followed')],
  },
  {
    id: 'F15',
    fault: 'TLS: expired certificate, wrong host, self-signed, TLS 1.0',
    promise: 'The delivery fails with the reason. No data is sent.',
    proofs: [
      chaos('hostile-receivers', 'F15:'),
      delivery(
        'transport/sender',
        'a certificate of an unknown authority is rejected',
        'a certificate for another host is rejected',
        'an expired certificate is rejected',
      ),
    ],
  },
  {
    id: 'F16',
    fault: 'loopback addresses in 13 spellings, beside an allowed address, and after a second DNS lookup',
    promise: 'No connection to the forbidden listener.',
    proofs: [chaos('hostile-receivers', 'F16: no connection to a blocked address is opened')],
  },
  {
    id: 'F17',
    fault: '500 events for an endpoint that hangs and 20 per second for a healthy one',
    promise: 'The healthy endpoint gets its events while the other one hangs.',
    proofs: [
      chaos('delivery-load', 'F17:'),
      delivery('dispatch/dispatcher', 'a hanging endpoint gets four requests and does not delay others'),
    ],
  },
  {
    id: 'F18',
    fault: '200 endpoints are down, then up again',
    promise: 'First attempts do not wait until the endpoints are up again. Retries are spread.',
    proofs: [chaos('delivery-load', 'F18:')],
  },
  {
    id: 'F19',
    fault: 'a secret is rotated under load; a webhook is disabled or deleted while deliveries wait',
    promise:
      'Both secrets verify during the overlap, the old one not after it. The waiting deliveries end as failed.',
    proofs: [
      chaos('changed-webhooks', 'F19:'),
      delivery('dispatch/dispatcher', 'deleting a webhook fails its pending deliveries'),
    ],
  },
  {
    id: 'F20',
    fault: 'rolling restart of all replicas under load (SIGTERM)',
    promise: 'No attempt is wasted and no POST is sent twice.',
    proofs: [
      chaos('rolling-restart', 'F20:'),
      delivery('dispatch/dispatcher', 'a stop waits for requests in flight and records their outcomes'),
      delivery('dispatch/dispatcher-stop', 'a row claimed during a stop is released and not sent'),
    ],
  },
  {
    id: 'F21',
    fault: 'RabbitMQ delivers every event to webhook delivery ten times',
    promise: 'One delivery row, and one POST per attempt.',
    proofs: [chaos('duplicate-events', 'F21:')],
  },
  {
    id: 'F22',
    fault: '50,000 deliveries are due after an outage',
    promise: 'All of them are delivered. Memory does not grow.',
    proofs: [chaos('delivery-load', 'F22:')],
  },
  {
    id: 'F23',
    fault:
      'the test of a webhook: an answer after half of the timeout, none, a refused connection, a name without an address',
    promise: 'The first is delivered. The others fail without a status.',
    proofs: [
      chaos('slow-receivers', 'F23:'),
      delivery('api/inspecting', 'a test without a response in time returns no status'),
    ],
  },
  {
    id: 'F24',
    fault: 'SIGKILL of the process with all services while it publishes documents',
    promise: 'A document is published and its event is sent, or neither.',
    proofs: [chaos('kill-in-publish', 'a killed publish stores both document and event, or neither')],
  },
];
