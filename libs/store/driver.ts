/**
 * Patches of the MongoDB driver, and everything that depends on its internals.
 *
 * `writeCommand` is patched for a defect of 7.8 and 7.9. A command waits forever for 'drain' in two cases: it
 * is written to a destroyed socket before 'close' is emitted, or its socket is destroyed while it drains.
 * With the patch it fails like any command whose connection breaks, so that the driver can retry it. See
 * docs/adr/0016.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { SwapRemoveSet } from './swap-remove-set.ts';

/** The internals that are used; the driver's version is pinned. */
interface Connection {
  socket: Socket;
  /** Handles the close of the socket: later commands fail. */
  onClose(): void;
  /** Throws the reason if the connection is closed. */
  throwIfAborted(): void;
  writeCommand(this: Connection, command: unknown, options: unknown): Promise<void>;
  command(this: Connection, ns: unknown, command: Sent, ...more: unknown[]): Promise<unknown>;
  /** Connections of a pool pass their command events on to the client. */
  emit(event: 'commandSucceeded' | 'commandFailed', commandEnded: CommandEnded): void;
}

/** A command as it is sent. Its first key is its name. */
type Sent = Readonly<Record<string, unknown>>;

/** A finished command to MongoDB. */
export interface CommandEnded {
  readonly commandName: string;
  readonly collection: string | undefined;
  /** The time of `performance.now()`, ms. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** The connections of a client to one server. */
interface Pool {
  readonly currentCheckedOutCount: number;
  readonly availableConnectionCount: number;
  readonly waitQueueSize: number;
}

// `require` instead of `import`: the driver's internals have no types
const internals: { Connection: { prototype: Connection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const connection = internals.Connection.prototype;
const { writeCommand } = connection;
const watchedSockets = new WeakSet<Socket>();

/**
 * Times commands and emits the times under the names of the driver's command events. The driver's own events
 * (`monitorCommands`) decode every reply a second time, which doubles the cost of a large page.
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

/** Gets a command's first key. It avoids `Object.keys`, because it runs for every command. */
function getCommandName(command: Sent): string {
  for (const name in command) return name;
  return '';
}

/** Gets the connection pools of a client, one per server. */
export function getPools(client: object): readonly Pool[] {
  // no types, as above
  const { topology } = client as { topology?: { s: { servers: Map<string, { pool: Pool }> } } };
  return [...(topology?.s.servers.values() ?? [])].map(({ pool }) => pool);
}

/**
 * Replaces a client's sets of sessions and cursors, which change with every command, so that ended sessions
 * and cursors do not accumulate in the old generation of the heap. See docs/adr/0023.
 */
export function patchSessionTracking(client: object): void {
  // no types, as above: the driver adds to these sets, deletes, clears and iterates them
  const { s } = client as { s: { activeSessions: Iterable<object>; activeCursors: Iterable<object> } };
  for (const name of ['activeSessions', 'activeCursors'] as const) {
    const set = new SwapRemoveSet();
    for (const item of s[name]) set.add(item);
    s[name] = set;
  }
}

connection.writeCommand = async function (command, options) {
  const { socket } = this;
  if (!watchedSockets.has(socket)) {
    watchedSockets.add(socket);
    socket.once('close', () => {
      // a writer that waits for 'drain' listens only for errors
      if (socket.listenerCount('drain') > 0) socket.emit('error', new Error('The connection was closed'));
    });
  }
  if (socket.destroyed) {
    this.onClose();
    this.throwIfAborted();
  }
  return writeCommand.call(this, command, options);
};
