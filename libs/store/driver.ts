/**
 * What is done to the MongoDB driver, and known of its inside, in one place. First, it is mended (7.8, 7.9): a command that is written to a socket that is destroyed, but whose `close` has not come
 * yet, waits for ever until the socket drains, and so does one whose socket is destroyed while it drains. Here both end as any
 * command does whose connection breaks, and what may be tried again is. docs/adr/0016 says how that was found.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { SwapRemoveSet } from './swap-remove-set.ts';

/** What is used of it; the version of the driver is pinned. */
interface Connection {
  socket: Socket;
  /** The socket has closed: whatever comes later fails. */
  onClose(): void;
  /** Throws why the connection is closed, if it is. */
  throwIfAborted(): void;
  writeCommand(this: Connection, command: unknown, options: unknown): Promise<void>;
  command(this: Connection, ns: unknown, command: Sent, ...more: unknown[]): Promise<unknown>;
  /** Connections of a pool pass their command events on to the client. */
  emit(event: 'commandSucceeded' | 'commandFailed', commandEnded: CommandEnded): void;
}

/** A command as it is sent: its first key is its name. */
type Sent = Readonly<Record<string, unknown>>;

/** A command to MongoDB that has ended. */
export interface CommandEnded {
  readonly commandName: string;
  readonly collection: string | undefined;
  /** On the clock of `performance`, ms. */
  readonly startedAt: number;
  readonly duration: number;
}

/** The connections of a client to one server. */
interface Pool {
  readonly currentCheckedOutCount: number;
  readonly availableConnectionCount: number;
  readonly waitQueueSize: number;
}

// required, not imported: there are no types for the driver's inside
const internals: { Connection: { prototype: Connection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const connection = internals.Connection.prototype;
const { writeCommand } = connection;
const watchedSockets = new WeakSet<Socket>();

/**
 * The driver's own command events (`monitorCommands`) decode every answer a second time, which doubles what a large page
 * costs. Here they say when and how long, and nothing else.
 */
const send = connection.command;
connection.command = async function (ns, command, ...more) {
  const startedAt = performance.now();
  let event: 'commandSucceeded' | 'commandFailed' = 'commandFailed';
  try {
    const reply = await send.call(this, ns, command, ...more);
    event = 'commandSucceeded';
    return reply;
  } finally {
    const commandName = getCommandName(command);
    const target =
      command[commandName] === undefined ? undefined : (command.collection ?? command[commandName]);
    const collection = typeof target === 'string' ? target : undefined;
    this.emit(event, { commandName, collection, startedAt, duration: performance.now() - startedAt });
  }
};

/** A command's first key, without a list of all of them: this runs for every command. */
function getCommandName(command: Sent): string {
  for (const name in command) return name;
  return '';
}

/** The pools of a client, one for each server that it knows. */
export function getPools(client: object): readonly Pool[] {
  // no types, as above
  const { topology } = client as { topology?: { s: { servers: Map<string, { pool: Pool }> } } };
  return [...(topology?.s.servers.values() ?? [])].map(({ pool }) => pool);
}

/**
 * Has a client keep its sessions and cursors, of which every command makes one, so that they cost the garbage collector
 * next to nothing once they have ended: docs/adr/0023.
 */
export function patchSessionTracking(client: object): void {
  // no types, as above: what it adds, deletes, clears and goes through
  const { s } = client as { s: { activeSessions: Iterable<object>; activeCursors: Iterable<object> } };
  for (const name of ['activeSessions', 'activeCursors'] as const) {
    const set = new SwapRemoveSet();
    for (const one of s[name]) set.add(one);
    s[name] = set;
  }
}

connection.writeCommand = async function (command, options) {
  const { socket } = this;
  if (!watchedSockets.has(socket)) {
    watchedSockets.add(socket);
    socket.once('close', () => {
      // who waits for it to drain hears of errors only
      if (socket.listenerCount('drain') > 0) socket.emit('error', new Error('The connection was closed'));
    });
  }
  if (socket.destroyed) {
    this.onClose();
    this.throwIfAborted();
  }
  return writeCommand.call(this, command, options);
};
