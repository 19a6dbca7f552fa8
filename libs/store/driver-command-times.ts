/**
 * Times MongoDB commands. It patches the driver's `Connection.command`, because the driver's own events
 * (`monitorCommands`) decode every page of rows a second time. Importing this file applies the patch.
 *
 * Delete this file when the driver's events no longer need the decoded reply. See docs/adr/0030.
 */
import { createRequire } from 'node:module';

/** A command as it is sent. Its first key is its name. */
type Sent = Readonly<Record<string, unknown>>;

/** The internals that are used; the driver's version is pinned. */
interface Connection {
  command(this: Connection, ns: unknown, command: Sent, ...more: unknown[]): Promise<unknown>;
  /** Connections of a pool pass their command events on to the client. */
  emit(event: 'commandSucceeded' | 'commandFailed', ended: EndedCommand): void;
}

/** A finished command, which replaces the data of the driver's events. */
export interface EndedCommand {
  readonly name: string;
  readonly collection: string | undefined;
  /** The time of `performance.now()`, ms. */
  readonly startedAt: number;
  readonly durationMs: number;
}

// `require` instead of `import`: the driver's internals have no types
const internals: { Connection: { prototype: Connection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const connection = internals.Connection.prototype;
const send = connection.command;

connection.command = async function (ns, command, ...more) {
  const startedAt = performance.now();
  let event: 'commandSucceeded' | 'commandFailed' = 'commandFailed';
  try {
    const reply = await send.call(this, ns, command, ...more);
    event = 'commandSucceeded';
    return reply;
  } finally {
    const name = getName(command);
    const collection = getCollection(command, name);
    this.emit(event, { name, collection, startedAt, durationMs: performance.now() - startedAt });
  }
};

/** Gets a command's first key. It avoids `Object.keys`, because it runs for every command. */
function getName(command: Sent): string {
  for (const name in command) return name;
  return '';
}

function getCollection(command: Sent, name: string): string | undefined {
  const target = command.collection ?? command[name];
  return typeof target === 'string' ? target : undefined;
}
