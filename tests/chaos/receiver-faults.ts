/** What receivers may do, how many of them there may be, and what may happen to webhooks and to who delivers meanwhile. */
import { delivery, demanded, type Fault, here } from './fault.ts';

/** F13 to F23. */
export const faultsOfReceivers: readonly Fault[] = [
  {
    id: 'F13',
    fault:
      'a receiver hangs, drips, sends 100 MB, a gzip bomb or 1 MB of headers, closes in the midst of its body',
    promise: 'ten seconds each at most, memory stays flat',
    proofs: [
      here(
        'hostile-receivers',
        'headers that drip',
        'of 100 MB little',
        '1 MB of headers',
        'a body that breaks off',
      ),
      delivery(
        'transport/sender',
        'a response that is too late is a timeout without a status',
        'an endless response body is not read to its end',
        'a slow response body ends at the timeout and keeps the status',
        'a refused or closed connection has its own error code',
      ),
      demanded('slow-receivers', 'F13:'),
    ],
    seconds: { inTests: 1, onDemand: 14 },
  },
  {
    id: 'F14',
    fault:
      '3xx to this machine; 410; 429 and 503 with `Retry-After` in seconds, as a date, past, absurd, garbage',
    promise: 'not followed; ends and switches off; waits as it was decided',
    proofs: [here('receiver-responses', 'F14:'), delivery('transport/sender', 'a redirect is not followed')],
    seconds: { inTests: 4, onDemand: 0 },
  },
  {
    id: 'F15',
    fault: 'TLS: expired, of another host, self-signed, version 1.0',
    promise: 'failed with the reason, nothing sent',
    proofs: [
      here('hostile-receivers', 'F15:'),
      delivery(
        'transport/sender',
        'a certificate of an unknown authority is rejected',
        'a certificate for another host is rejected',
        'an expired certificate is rejected',
      ),
    ],
    seconds: { inTests: 0.1, onDemand: 0 },
  },
  {
    id: 'F16',
    fault:
      'addresses of this machine in 13 spellings, beside an allowed one, after a second look at the name',
    promise: 'no connection to the forbidden listener',
    proofs: [here('hostile-receivers', 'F16: nobody connects to a forbidden listener')],
    seconds: { inTests: 0.1, onDemand: 0 },
  },
  {
    id: 'F17',
    fault: '500 events for an endpoint that hangs, 20 a second for a healthy one',
    promise: 'the healthy one is told in time (goal: p95 < 1 s, p99 < 2 s)',
    proofs: [
      demanded('delivery-load', 'F17:'),
      delivery('dispatcher', 'a hanging endpoint gets four requests and does not delay others'),
    ],
    seconds: { inTests: 3, onDemand: 95 },
  },
  {
    id: 'F18',
    fault: '200 endpoints are down, then back',
    promise: 'first attempts in time throughout (goal: p95 < 1 s), retries spread',
    proofs: [demanded('delivery-load', 'F18:')],
    seconds: { inTests: 0, onDemand: 55 },
  },
  {
    id: 'F19',
    fault: 'a secret is rotated under load; a webhook is switched off or deleted while deliveries wait',
    promise: 'both secrets verify within the overlap, the old one not after it; what waits ends as failed',
    proofs: [
      demanded('changed-webhooks', 'F19:'),
      delivery('dispatcher', 'deleting a webhook fails its pending deliveries'),
    ],
    seconds: { inTests: 0.6, onDemand: 19 },
  },
  {
    id: 'F20',
    fault: 'rolling restart of all replicas under load (SIGTERM)',
    promise: 'no burnt attempt, no POST twice',
    proofs: [
      demanded('rolling-restart', 'F20:'),
      delivery('dispatcher', 'a stop waits for requests in flight and records their outcomes'),
      delivery('dispatcher-stop', 'a row claimed during a stop is released, uncounted and unsent'),
    ],
    seconds: { inTests: 2, onDemand: 43 },
  },
  {
    id: 'F21',
    fault: 'every event is delivered to webhook delivery ten times',
    promise: 'one row, one POST for each attempt',
    proofs: [here('duplicate-events', 'F21:')],
    seconds: { inTests: 2, onDemand: 0 },
  },
  {
    id: 'F22',
    fault: '50,000 deliveries are due after an outage',
    promise: 'a steady rate (goal: 80 % of the peak), memory stays flat',
    proofs: [demanded('delivery-load', 'F22:')],
    seconds: { inTests: 0, onDemand: 257 },
  },
  {
    id: 'F23',
    fault: 'the test of a webhook: an answer after 9.9 s, after 10.1 s, a refusal, a name without an address',
    promise: 'delivered, failed, failed, failed; the last three without a status',
    proofs: [
      demanded('slow-receivers', 'F23:'),
      delivery('inspecting', 'a test without a response in time returns no status'),
    ],
    seconds: { inTests: 1, onDemand: 11 },
  },
];
