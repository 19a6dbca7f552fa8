/** The metrics that every process tells, whichever services are in it. */
import { counter, defaultBuckets, gauge, histogram, statusClasses } from './metric-definition.ts';

/** What a process tells of itself and of requests, which belong to operations. */
export const processMetrics = {
  requests: histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer, by operation and class of status',
    unit: 'seconds',
    labels: { operation: 'operation', status_class: statusClasses },
    buckets: defaultBuckets,
  }),
  problems: counter({
    name: 'http_problems_total',
    help: 'Requests that ended in a problem, by operation and code of the problem',
    labels: { operation: 'operation', code: 'problem' },
  }),
  unmatched: counter({
    name: 'http_unmatched_requests_total',
    help: 'Requests that reached no operation: an unknown path, a known one with another method, or one that is not well-formed',
    labels: { status_class: statusClasses },
  }),
  busUp: gauge({
    name: 'event_bus_up',
    help: '1 while events can be carried, 0 while RabbitMQ is away or asks to wait',
    labels: {},
  }),
  loopLag: histogram({
    name: 'event_loop_lag_seconds',
    help: 'How late a timer was that is due four times a second: so long everything waited',
    unit: 'seconds',
    labels: {},
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
  rss: gauge({
    name: 'process_memory_rss_bytes',
    help: 'Resident memory of the process, also where the runtime has no /proc of its own',
    unit: 'bytes',
    labels: {},
  }),
  build: gauge({
    name: 'build_info',
    help: 'Always 1: the version of the services, and what runs them',
    // one value of each in a process
    labels: { version: [] as readonly string[], runtime: [] as readonly string[] },
  }),
};

/** The commands of MongoDB that have a name of their own in metrics. */
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

const handling = { type: 'event' } as const;

/** What a process tells of each service in it. */
export const serviceMetrics = {
  events: counter({
    name: 'events_handled_total',
    help: 'Tries to handle an event: `handled`, `failed` (and tried again, or set aside), `postponed` while MongoDB is away',
    labels: { ...handling, outcome: ['handled', 'failed', 'postponed'] },
  }),
  deadLettered: counter({
    name: 'events_dead_lettered_total',
    help: 'Events that this process gave up after all their tries: they are dead letters',
    labels: handling,
  }),
  handlingTime: histogram({
    name: 'event_handling_duration_seconds',
    help: 'Time of a try to handle an event',
    unit: 'seconds',
    labels: handling,
    buckets: defaultBuckets,
  }),
  age: histogram({
    name: 'event_age_seconds',
    help: 'From the change to the moment at which its event is handled',
    unit: 'seconds',
    labels: handling,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600],
  }),
  queue: gauge({
    name: 'event_queue_messages',
    help: 'Events in the queue of a service: `waiting`, set `aside` and to be looked at once more, `dead`',
    labels: { state: ['ready', 'retry', 'dead'] },
  }),
  outboxCount: gauge({
    name: 'outbox_pending_events',
    help: 'Events that the bus has not taken; 10,000 stand for as many or more',
    labels: {},
  }),
  outboxAge: gauge({
    name: 'outbox_oldest_seconds',
    help: 'How long the oldest event that the bus has not taken has been waiting',
    unit: 'seconds',
    labels: {},
  }),
  commands: histogram({
    name: 'mongodb_command_duration_seconds',
    help: 'Time from a command to MongoDB until its answer, by command and outcome',
    unit: 'seconds',
    labels: { command: mongoCommands, outcome: ['ok', 'failed'] },
    buckets: [0.001, ...defaultBuckets],
  }),
  pool: gauge({
    name: 'mongodb_pool_connections',
    help: 'Connections to MongoDB: `in_use` or `idle`',
    labels: { state: ['used', 'idle'] },
  }),
  poolWaiting: gauge({
    name: 'mongodb_pool_pending_requests',
    help: 'Work that waits for a connection to MongoDB',
    labels: {},
  }),
  poolWait: histogram({
    name: 'mongodb_pool_wait_seconds',
    help: 'How long work waited for a connection to MongoDB',
    unit: 'seconds',
    labels: {},
    buckets: [0.001, 0.01, 0.1, 1, 5],
  }),
};
