/** Counts what work costs MongoDB, from its profiler and from the metrics of the services. */
import {
  hasPendingWork,
  type ProfiledCommand,
  profileCommands,
  readMetric,
  slowness,
  type TestApp,
  until,
} from '#libs/testing';

/** The services whose work is counted, with the management ports of all their replicas. */
export interface CountedApp extends Pick<TestApp, 'db' | 'logLines'> {
  managements: readonly string[];
}

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

/** Counts, and the counted commands for people. */
export interface CountedCommands {
  counts: Counts;
  commands: readonly string[];
}

/** How long nothing may happen until the background work counts as done, ms. */
const quietMs = 400 * slowness;

/**
 * Fields that only workers query to find work. A query that finds none is left out, because it depends on the time
 * and not on the request.
 */
const workFields = [
  'due_at',
  'lease_until',
  'leased_until',
  'locked_until',
  'notification_pending',
  'reindex_at',
  'secrets.until',
  'update_event_due_at',
  'overdue_at',
  'review_notice_at',
];

/** Runs work, waits until nothing is pending and counts what both cost. Nothing else may run meanwhile. */
export async function countCommands(app: CountedApp, work: () => Promise<unknown>): Promise<CountedCommands> {
  const before = await readTransactions(app);
  const commands = await profileCommands(app.db, async () => {
    await work();
    await waitUntilSettled(app);
  });
  // of replicas that change the same rows at the same time, one repeats its transaction; a single one never has to
  const conflicts = app.managements.length > 1 ? commands.filter(({ isConflict }) => isConflict) : [];
  const aborted = new Set(conflicts.map(({ transaction }) => transaction));
  const counted = commands.filter(
    (command) =>
      command.client !== '' &&
      !isSearchForWork(command) &&
      !isCachedForSeconds(command) &&
      (command.transaction === undefined || !aborted.has(command.transaction)),
  );
  const writes = counted.filter(isWrite);
  // a replica that finds work at the same time as another one, and then fails to claim it, has read once more
  const lost = commands.filter(isLostClaim).length;
  return {
    counts: {
      reads: counted.length - writes.length - lost,
      writes: writes.length,
      transactions: (await readTransactions(app)) - before,
      rows: writes.reduce((sum, { written }) => sum + written, 0),
    },
    commands: counted.map(({ client, op, collection, command }) =>
      [client, op, collection, JSON.stringify(command.filter ?? command.q ?? {})].join(' '),
    ),
  };
}

/** Waits until nothing that earlier requests caused is pending. */
export function waitUntilSettled({ db, logLines }: CountedApp): Promise<unknown> {
  let quietSince = performance.now();
  let lines = logLines().length;
  return until('the end of the background work', async () => {
    if (await hasPendingWork(db)) quietSince = performance.now();
    if (performance.now() - quietSince <= quietMs) return false;
    // an event on its way through RabbitMQ is not pending in MongoDB, but its consumer logs it
    const isQuiet = logLines().length === lines;
    lines = logLines().length;
    if (!isQuiet) quietSince = performance.now();
    return isQuiet;
  });
}

async function readTransactions({ managements }: CountedApp): Promise<number> {
  const labels = { command: 'commitTransaction' };
  const read = (management: string) =>
    readMetric(management, 'mongodb_command_duration_seconds_count', labels);
  return (await Promise.all(managements.map(read))).reduce((sum, count) => sum + count, 0);
}

function isSearchForWork({ command, returned, written }: ProfiledCommand): boolean {
  const filter = JSON.stringify(command.filter ?? command.q ?? command.query ?? {});
  return returned + written === 0 && workFields.some((field) => filter.includes(`"${field}"`));
}

const cachedCollections = ['subscription_terms', 'signing_keys', 'signing_keys_public'];

/** Services cache the plans of organizations for five seconds, and the keys of tokens for a minute. */
function isCachedForSeconds({ collection }: ProfiledCommand): boolean {
  return cachedCollections.includes(collection);
}

function isLostClaim(command: ProfiledCommand): boolean {
  const { _id } = (command.command.q ?? {}) as { _id?: unknown };
  return command.op === 'update' && _id !== undefined && isSearchForWork(command);
}

function isWrite({ op, command }: ProfiledCommand): boolean {
  return ['insert', 'update', 'remove'].includes(op) || 'findAndModify' in command;
}
