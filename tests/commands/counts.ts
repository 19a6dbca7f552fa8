/** Counts what work costs MongoDB, from its profiler and from the metrics of the services. */
import {
  hasPendingWork,
  type ProfiledCommand,
  profileCommands,
  readMetric,
  type TestApp,
  until,
} from '#libs/testing';

/** What some work costs MongoDB, including the work that follows in the background. */
export interface Counts {
  /** Commands that read. */
  reads: number;
  /** Statements that write. One command may have several. */
  writes: number;
  transactions: number;
  /** Rows that were inserted, changed or deleted. */
  rows: number;
}

/** How long nothing may happen until the background work counts as done, ms. */
const quietMs = 400;

/**
 * Fields that only workers query to find work. A query that finds none is left out, because it depends on the time
 * and not on the request.
 */
const workFields = [
  'due_at',
  'lease_until',
  'locked_until',
  'notification_pending',
  'reindex_at',
  'secrets.until',
  'update_event_due_at',
];

/** Runs work, waits until nothing is pending and returns what both cost. Nothing else may run meanwhile. */
export async function countCommands(app: TestApp, work: () => Promise<unknown>): Promise<Counts> {
  const before = await readTransactions(app);
  const commands = await profileCommands(app.db, async () => {
    await work();
    await waitUntilSettled(app);
  });
  const counted = commands.filter(
    (command) => command.client !== '' && !isSearchForWork(command) && !isCachedForSeconds(command),
  );
  const writes = counted.filter(isWrite);
  return {
    reads: counted.length - writes.length,
    writes: writes.length,
    transactions: (await readTransactions(app)) - before,
    rows: writes.reduce((sum, { written }) => sum + written, 0),
  };
}

/** Waits until nothing that earlier requests caused is pending. */
export function waitUntilSettled({ db }: TestApp): Promise<unknown> {
  let quietSince = performance.now();
  return until('the end of the background work', async () => {
    if (await hasPendingWork(db)) quietSince = performance.now();
    return performance.now() - quietSince > quietMs;
  });
}

function readTransactions({ management }: TestApp): Promise<number> {
  const labels = { command: 'commitTransaction' };
  return readMetric(management, 'mongodb_command_duration_seconds_count', labels);
}

function isSearchForWork({ command, returned, written }: ProfiledCommand): boolean {
  const filter = JSON.stringify(command.filter ?? command.q ?? command.query ?? {});
  return returned + written === 0 && workFields.some((field) => filter.includes(`"${field}"`));
}

/** Webhook delivery caches the plans of organizations for five seconds. */
function isCachedForSeconds({ client, collection }: ProfiledCommand): boolean {
  return client === 'webhook-delivery' && collection === 'subscription_terms';
}

function isWrite({ op, command }: ProfiledCommand): boolean {
  return ['insert', 'update', 'remove'].includes(op) || 'findAndModify' in command;
}
