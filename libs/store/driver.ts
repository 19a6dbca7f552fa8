/**
 * Mends the MongoDB driver (7.8, 7.9): a command that is written to a socket that is destroyed, but whose `close` has not come
 * yet, waits for ever until the socket drains, and so does one whose socket is destroyed while it drains. Here both end as any
 * command does whose connection breaks, and what may be tried again is. docs/adr/0016 says how that was found.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** What is used of it; the version of the driver is pinned. */
interface Connection {
  socket: Socket;
  /** The socket has closed: whatever comes later fails. */
  onClose(): void;
  /** Throws why the connection is closed, if it is. */
  throwIfAborted(): void;
  writeCommand(this: Connection, command: unknown, options: unknown): Promise<void>;
}

// required, not imported: there are no types for the driver's inside
const inside: { Connection: { prototype: Connection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const connection = inside.Connection.prototype;
const { writeCommand } = connection;
const watched = new WeakSet<Socket>();

connection.writeCommand = async function (command, options) {
  const { socket } = this;
  if (!watched.has(socket)) {
    watched.add(socket);
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
