/** The faults that webhook delivery and the carrying of events must stand: what happens, what is promised, and which tests prove it. */

/** Tests of one file that prove something about a fault. */
export interface Proof {
  file: string;
  /** How their titles begin. */
  tests: readonly string[];
  /** Where they are declared, if not in the file itself. */
  declaredIn?: string;
}

/** A fault. */
export interface Fault {
  id: `F${number}`;
  /** What happens. */
  fault: string;
  /** What holds all the same; I1 to I6 are the promises of `checker.ts`. */
  promise: string;
  proofs: readonly Proof[];
  /** How long its proofs took when `npm run faults` was run on two cores, s: those of `npm test`, and those on demand. */
  seconds: { inTests: number; onDemand: number };
}

/** Whether a proof waits for so long that `npm test` leaves it out. */
export function isOnDemand({ file }: Proof): boolean {
  return file.startsWith(onDemandFolder);
}

/** The folder of the tests that only `npm run faults` runs. */
export const onDemandFolder = 'tests/faults/on-demand/';

const demanded = (name: string, ...tests: string[]): Proof => ({
  file: `${onDemandFolder}${name}.test.ts`,
  tests,
});
const amqp = (name: string, ...tests: string[]): Proof => ({
  file: `libs/events/amqp/${name}.test.ts`,
  tests,
});
const delivery = (name: string, ...tests: string[]): Proof => ({
  file: `services/webhook-delivery/${name}.test.ts`,
  tests,
});
const here = (name: string, ...tests: string[]): Proof => ({ file: `tests/faults/${name}.test.ts`, tests });
const underFire = ['node', 'deno', 'all-in-one'].map(
  (way): Proof => ({
    file: `tests/faults/under-fire-${way}.test.ts`,
    tests: [
      'work goes on while every process is killed once and RabbitMQ goes away and comes back',
      'all that was said comes to its end',
      'every change was said once and came to its webhook under that one id, signed',
      'nothing was sent again but what a killed process had not recorded',
    ],
    declaredIn: 'tests/under-fire/story.ts',
  }),
);

/** All of them. */
export const faults: readonly Fault[] = [
  {
    id: 'F1',
    fault: 'SIGKILL of a replica that delivers, in the midst of a batch, six times, of three replicas',
    promise: 'I1–I6',
    proofs: [demanded('killed-deliverers', 'F1:'), ...underFire],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F2',
    fault: 'SIGKILL in the midst of a POST; after the 2xx and before its record',
    promise: 'I2; the second may give one duplicate under the same id',
    proofs: [
      demanded('killed-deliverers', 'F2:'),
      delivery(
        'delivering',
        'a row that it held is delivered by the sweep',
        'a row with three attempts behind it is not sent again',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F3',
    fault: 'SIGKILL of RabbitMQ under load, back after 12 s',
    promise: 'no request fails, nothing is lost, it flows again by itself',
    proofs: [
      demanded('rabbit-faults', 'F3:'),
      amqp('broker-faults', 'a broker that is killed under load and started again loses nothing'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F4',
    fault: 'RabbitMQ comes back empty',
    promise:
      'everything is declared anew, recent events are sent again, duplicates are folded, nothing is lost',
    proofs: [
      demanded('rabbit-faults', 'F4:'),
      amqp('broker-faults', 'a broker that comes back empty is declared anew'),
      {
        file: 'tests/journeys/over-rabbitmq.test.ts',
        tests: [
          'a RabbitMQ that is killed in the midst of it and comes back empty loses and repeats nothing',
        ],
      },
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F5',
    fault: 'RabbitMQ stands still for 60 s (SIGSTOP: connections stay half open)',
    promise: 'publishing is given up in time, connections are opened anew, nothing is lost',
    proofs: [
      here('frozen-rabbitmq', 'a RabbitMQ that stands still for a minute stops no request, loses nothing'),
      amqp(
        'broker-faults',
        'a broker that hangs is noticed in bounded time',
        'a bus closes in bounded time while the broker hangs',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F6',
    fault: 'RabbitMQ has no memory left (alarm)',
    promise: 'the outbox waits, memory stays flat, it goes on by itself',
    proofs: [
      demanded('rabbit-faults', 'F6:'),
      amqp('broker-faults', 'while the broker has no memory left the bus is down and waits'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F7',
    fault: 'a queue is full; the exchange, all bindings of a type or one of several are deleted',
    promise:
      'what no queue takes is not marked as published, it is said, it heals (one of several bindings within a minute: what is said until then does not reach that queue)',
    proofs: [
      demanded('rabbit-faults', 'F7:'),
      amqp(
        'queue-faults',
        'a full queue refuses events until there is room',
        'an exchange that is taken away marks nothing as published',
        'a binding that is taken away refuses the event',
        'a binding of one queue among several, which nobody misses, is made again',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F8',
    fault: 'a consumer is cancelled, a channel or a connection closed by the broker',
    promise: 'subscribed again within seconds, what was in hand comes again',
    proofs: [
      amqp(
        'queue-faults',
        'a consumer whose queue is deleted is subscribed again',
        'an answer to an old channel is left out',
      ),
      amqp(
        'broker-faults',
        'connections that the broker closes are opened again',
        'a handler that takes longer than the broker waits loses its channel',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F9',
    fault: 'one event kills its process, prefetch 64',
    promise: 'that one is set aside, the other 63 are handled',
    proofs: [
      amqp('poison', 'an event that kills its process becomes a dead letter, its 63 neighbours are handled'),
      amqp(
        'coming-back',
        'a process that begins takes them one by one',
        'a process that had its hand full takes them one by one',
      ),
      amqp(
        'second-chance',
        'innocents are handled, one at a time',
        'what fails on its second chance as well is dead',
        'what a process refused is not tried again',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F10',
    fault: 'garbage, or an event of an unknown type',
    promise: 'a dead letter, no loop',
    proofs: [
      amqp('queue-faults', 'bytes that are no event are set aside as they are'),
      {
        ...amqp(
          'amqp-bus',
          'garbage, unknown types and data of another shape are set aside at once, each once',
          'bytes that are no event do not stop the queue',
        ),
        declaredIn: 'libs/testing/bus-failures.ts',
      },
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F11',
    fault:
      'mongod is killed and started again; is away for 30 s; its primary steps down, is killed, and loses what only it knew',
    promise: 'I1–I6, nothing is sent while it is away, requests get 503 and then work again',
    proofs: [
      demanded('mongo-faults', 'F11:'),
      {
        file: 'libs/store/outage.test.ts',
        tests: [
          'while MongoDB is away a read and a change get 503',
          'a transaction that loses MongoDB in its midst',
        ],
      },
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F12',
    fault: '2 s of latency, resets, pieces of 7 bytes, 20 KB a second between us and MongoDB, or RabbitMQ',
    promise: 'I1–I6',
    proofs: [demanded('bad-weather', 'F12:'), amqp('cut-off', 'a connection that is cut at')],
    seconds: { inTests: 0, onDemand: 0 },
  },
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
        'sending',
        'an answer that does not come in time is a timeout',
        'an endless body does not change the outcome',
        'a body that drips ends with the time',
        'a connection that is refused or cut has its reason',
      ),
      demanded('patience', 'F13:'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F14',
    fault:
      '3xx to this machine; 410; 429 and 503 with `Retry-After` in seconds, as a date, past, absurd, garbage',
    promise: 'not followed; ends and switches off; waits as it was decided',
    proofs: [here('told-by-the-answer', 'F14:'), delivery('sending', 'a redirect is not followed')],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F15',
    fault: 'TLS: expired, of another host, self-signed, version 1.0',
    promise: 'failed with the reason, nothing sent',
    proofs: [
      here('hostile-receivers', 'F15:'),
      delivery(
        'sending',
        'an unknown authority is refused',
        'another host’s certificate is refused',
        'an expired certificate is refused',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F16',
    fault:
      'addresses of this machine in 13 spellings, beside an allowed one, after a second look at the name',
    promise: 'no connection to the forbidden listener',
    proofs: [here('hostile-receivers', 'F16: nobody connects to a forbidden listener')],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F17',
    fault: '500 events for an endpoint that hangs, 20 a second for a healthy one',
    promise: 'the healthy one is told in time (goal: p95 < 1 s, p99 < 2 s)',
    proofs: [
      demanded('crowds', 'F17:'),
      delivery(
        'delivering',
        'at most four requests are open to one endpoint, and a hanging one holds up nobody',
      ),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F18',
    fault: '200 endpoints are down, then back',
    promise: 'first attempts in time throughout (goal: p95 < 1 s), retries spread',
    proofs: [demanded('crowds', 'F18:')],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F19',
    fault: 'a secret is rotated under load; a webhook is switched off or deleted while deliveries wait',
    promise: 'both secrets verify within the overlap, the old one not after it; what waits ends as failed',
    proofs: [
      demanded('changed-webhooks', 'F19:'),
      delivery('delivering', 'what waits for a deleted webhook ends failed'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F20',
    fault: 'rolling restart of all replicas under load (SIGTERM)',
    promise: 'no burnt attempt, no POST twice',
    proofs: [
      demanded('rolling-restart', 'F20:'),
      delivery('delivering', 'a stop lets the request in hand finish'),
      delivery('delivering-stop', 'what is claimed while the worker stops is given back'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F21',
    fault: 'every event is delivered to webhook delivery ten times',
    promise: 'one row, one POST for each attempt',
    proofs: [here('told-ten-times', 'F21:')],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F22',
    fault: '50,000 deliveries are due after an outage',
    promise: 'a steady rate (goal: 80 % of the peak), memory stays flat',
    proofs: [demanded('crowds', 'F22:')],
    seconds: { inTests: 0, onDemand: 0 },
  },
  {
    id: 'F23',
    fault: 'the test of a webhook: an answer after 9.9 s, after 10.1 s, a refusal, a name without an address',
    promise: 'delivered, failed, failed, failed; the last three without a status',
    proofs: [
      demanded('patience', 'F23:'),
      delivery('inspecting', 'that gets no answer in time has no status'),
    ],
    seconds: { inTests: 0, onDemand: 0 },
  },
];
