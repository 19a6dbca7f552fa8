/** Faults of the service processes, RabbitMQ, MongoDB and the connections between them. */
import { amqp, chaos, delivery, type Fault, type Proof } from './fault.ts';

const journeyProofs = ['node', 'deno', 'one-process'].map(
  (way): Proof => ({
    file: `tests/chaos/journey-${way}.chaos.test.ts`,
    tests: [
      'requests succeed while each process and RabbitMQ are killed once',
      'every event is handled and no message is left in a queue',
      'every change has one event, which reached its webhook signed',
      'only killed processes cause repeated POSTs, and all are delivered',
    ],
    declaredIn: 'tests/chaos/workload/journey.ts',
  }),
);

const emptyRestart = 'no event is lost or repeated if RabbitMQ restarts empty under load';

/** F1 to F12. */
export const serverFaults: readonly Fault[] = [
  {
    id: 'F1',
    fault: 'SIGKILL of one of three delivering replicas during a batch, six times',
    promise: 'I1–I6',
    proofs: [chaos('killed-deliverers', 'F1:'), ...journeyProofs],
  },
  {
    id: 'F2',
    fault: 'SIGKILL during a POST; SIGKILL after the 2xx and before it is recorded',
    promise: 'I2; the second case may cause one duplicate with the same id',
    proofs: [
      chaos('killed-deliverers', 'F2:'),
      delivery(
        'dispatch/dispatcher',
        'the sweep releases a row of a dead process, and it is delivered',
        'a row with three counted attempts fails as interrupted',
      ),
    ],
  },
  {
    id: 'F3',
    fault: 'SIGKILL of RabbitMQ under load; it is back after 12 s',
    promise: 'No request fails, nothing is lost, and the events flow again without a restart.',
    proofs: [
      chaos('rabbit-faults', 'F3:'),
      amqp('broker-faults.chaos', 'a broker that is killed and restarted under load loses no event'),
      chaos('restarted-rabbitmq', 'requests succeed while RabbitMQ is down, and all events follow later'),
    ],
  },
  {
    id: 'F4',
    fault: 'RabbitMQ comes back empty',
    promise:
      'The services declare everything again and republish recent events. Consumers ignore duplicates. Nothing is lost.',
    proofs: [
      chaos('rabbit-faults', 'F4:'),
      amqp('broker-faults.chaos', 'each owner of an outbox is notified once when the broker was reset'),
      chaos('restarted-rabbitmq', emptyRestart),
      {
        ...chaos('restarted-rabbitmq-with-keys', emptyRestart),
        declaredIn: 'tests/chaos/restarted-rabbitmq.chaos.test.ts',
      },
    ],
  },
  {
    id: 'F5',
    fault: 'RabbitMQ freezes for 60 s (SIGSTOP; connections stay half open)',
    promise: 'Publishing times out, the services reconnect, and nothing is lost.',
    proofs: [
      chaos('frozen-rabbitmq', 'F5:'),
      amqp(
        'broker-faults.chaos',
        'a frozen broker is detected, and the bus recovers',
        'a publish is rejected if a frozen broker does not confirm it',
        'a bus closes while the broker is frozen',
      ),
    ],
  },
  {
    id: 'F6',
    fault: 'RabbitMQ has no memory left (alarm)',
    promise: 'Events wait in the outbox, memory does not grow, and publishing resumes without a restart.',
    proofs: [
      chaos('rabbit-faults', 'F6:'),
      amqp('broker-faults.chaos', 'the bus is down while the broker is out of memory, and then recovers'),
    ],
  },
  {
    id: 'F7',
    fault: 'a queue is full; an exchange, the binding between the exchanges or that of a queue is deleted',
    promise:
      'An event that no queue accepts is not marked as published. The process reports it and repairs the topology. It restores the binding of a single queue within a minute; events published until then do not reach that queue.',
    proofs: [
      chaos('rabbit-faults', 'F7:'),
      amqp(
        'queue-faults',
        'publish rejects while a queue is full, and no event is lost',
        'publish rejects if the exchange %s was deleted, which is declared again',
        'publish rejects if a binding was deleted, which is then declared again',
        'a deleted binding of one of several queues is declared again',
      ),
      amqp('topology-setup', 'an event reaches all queues or none while they are declared %s'),
    ],
  },
  {
    id: 'F8',
    fault: 'RabbitMQ cancels a consumer or closes a channel or a connection',
    promise: 'The service subscribes again within seconds. Unacknowledged events are delivered again.',
    proofs: [
      amqp(
        'queue-faults',
        'a consumer whose queue is deleted resubscribes to a new queue',
        'no acknowledgment is sent over a closed channel',
      ),
      amqp(
        'broker-faults.chaos',
        'connections closed by the broker reopen, and events in flight return',
        'an event is redelivered if its handler exceeds the consumer timeout',
      ),
    ],
  },
  {
    id: 'F9',
    fault: 'an event crashes the process that handles it, which has prefetched 64 events',
    promise: 'That event becomes a dead letter. The other 63 are handled.',
    proofs: [
      amqp('poison.chaos', 'only the event that kills its process is dead-lettered'),
      amqp(
        'redelivery',
        'a new process consumes redelivered events one at a time',
        'a busy process switches to one event at a time on a redelivered event',
      ),
      amqp(
        'retry-queue',
        'events over the delivery limit are handled one at a time',
        'an event that fails in the retry queue too is dead-lettered',
        'an event that a handler rejected is not retried after earlier crashes',
      ),
    ],
  },
  {
    id: 'F10',
    fault: 'a message that is not an event, or an event of an unknown type',
    promise: 'It becomes a dead letter. There is no loop.',
    proofs: [
      amqp('queue-faults', 'bytes that are not an event are dead-lettered unchanged'),
      {
        ...amqp(
          'amqp-bus',
          'malformed, unknown and invalid events are dead-lettered at once',
          'bytes that are not an event do not stop the queue',
        ),
        declaredIn: 'libs/testing/bus-failures.ts',
      },
    ],
  },
  {
    id: 'F11',
    fault:
      'mongod is killed and restarted; is down for 30 s; its primary steps down, is killed, or loses unreplicated writes',
    promise: 'I1–I6. No webhook is sent while MongoDB is down. Requests get 503 and then succeed again.',
    proofs: [
      chaos('mongo-faults', 'F11:'),
      {
        file: 'libs/store/outage.chaos.test.ts',
        tests: [
          'requests fail with 503 while MongoDB is down, and work when it is back',
          'a transaction that loses its connection commits once or not at all',
        ],
      },
    ],
  },
  {
    id: 'F12',
    fault:
      '2 s of latency, connection resets, packets of 7 bytes or 20 KB/s between the services and MongoDB or RabbitMQ',
    promise: 'I1–I6',
    proofs: [chaos('network-faults', 'F12:'), amqp('cut-off.chaos', 'a connection that is cut at')],
  },
];
