/** The metrics that every process has, whichever services it runs. */
import { counter, defaultBuckets, gauge, histogram, statusClasses } from './metric-definition.ts';

/** Metrics of a process and its requests. */
export const processMetrics = {
  requests: histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests until the response, by operation and status class',
    unit: 'seconds',
    labels: { operation: 'operation', status_class: statusClasses },
    buckets: defaultBuckets,
  }),
  problems: counter({
    name: 'http_problems_total',
    help: 'Requests that ended in a problem, by operation and problem code',
    labels: { operation: 'operation', code: 'problem' },
  }),
  unmatched: counter({
    name: 'http_unmatched_requests_total',
    help: 'Requests that matched no operation: unknown path, method not allowed, malformed path, or a preflight rejected by overload',
    labels: { status_class: statusClasses },
  }),
  busUp: gauge({
    name: 'event_bus_up',
    help: '1 if events can be published, 0 while RabbitMQ is unreachable or blocking publishers',
    labels: {},
  }),
  loopLag: histogram({
    name: 'event_loop_lag_seconds',
    help: 'Delay of the event loop, measured with a timer four times a second',
    unit: 'seconds',
    labels: {},
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
  rss: gauge({
    name: 'process_memory_rss_bytes',
    help: 'Resident memory of the process, also under runtimes without /proc',
    unit: 'bytes',
    labels: {},
  }),
  build: gauge({
    name: 'build_info',
    help: 'Always 1. The labels have the version of the services and of the runtime',
    // a process has one value of each
    labels: { version: [] as readonly string[], runtime: [] as readonly string[] },
  }),
};

/** The MongoDB commands that metrics name. Others are counted as `other`. */
export const mongoCommands = [
  'find',
  'getMore',
  'aggregate',
  'insert',
  'update',
  'delete',
  'findAndModify',
  'commitTransaction',
  'abortTransaction',
  'ping',
  'other',
] as const;

const typeLabel = { type: 'event' } as const;

/** Metrics of each service in a process. */
export const serviceMetrics = {
  events: counter({
    name: 'events_handled_total',
    help: 'Attempts to handle an event: `handled`, `failed` (retried or dead-lettered) or `postponed` while MongoDB is unreachable',
    labels: { ...typeLabel, outcome: ['handled', 'failed', 'postponed'] },
  }),
  deadLettered: counter({
    name: 'events_dead_lettered_total',
    help: 'Events that this process dead-lettered after all attempts failed',
    labels: typeLabel,
  }),
  handlingTime: histogram({
    name: 'event_handling_duration_seconds',
    help: 'Duration of an attempt to handle an event',
    unit: 'seconds',
    labels: typeLabel,
    buckets: defaultBuckets,
  }),
  age: histogram({
    name: 'event_age_seconds',
    help: 'Time from a change until its event is handled',
    unit: 'seconds',
    labels: typeLabel,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600],
  }),
  queue: gauge({
    name: 'event_queue_messages',
    help: 'Events of a service by queue: `ready`, `retry` (waiting for one more attempt) or `dead` (dead-lettered)',
    labels: { state: ['ready', 'retry', 'dead'] },
  }),
  outboxCount: gauge({
    name: 'outbox_pending_events',
    help: 'Events in the outbox that are not published (capped at 10,000)',
    labels: {},
  }),
  outboxAge: gauge({
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest event in the outbox that is not published',
    unit: 'seconds',
    labels: {},
  }),
  commands: histogram({
    name: 'mongodb_command_duration_seconds',
    help: 'Duration of MongoDB commands, by command and outcome',
    unit: 'seconds',
    labels: { command: mongoCommands, outcome: ['ok', 'failed'] },
    buckets: [0.001, ...defaultBuckets],
  }),
  pool: gauge({
    name: 'mongodb_pool_connections',
    help: 'Connections to MongoDB, by state: `used` or `idle`',
    labels: { state: ['used', 'idle'] },
  }),
  poolWaiting: gauge({
    name: 'mongodb_pool_pending_requests',
    help: 'Requests that wait for a connection to MongoDB',
    labels: {},
  }),
  poolWait: histogram({
    name: 'mongodb_pool_wait_seconds',
    help: 'Time that a request waited for a connection to MongoDB',
    unit: 'seconds',
    labels: {},
    buckets: [0.001, 0.01, 0.1, 1, 5],
  }),
};
