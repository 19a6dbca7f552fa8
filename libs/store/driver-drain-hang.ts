/**
 * Patches two defects of the MongoDB driver (7.8 and 7.9). Importing this file applies the patch.
 *
 * - A command waits forever for 'drain' if its socket is destroyed. The socket was destroyed either before the
 *   command is written, but 'close' is not emitted yet, or while the command drains.
 * - If the socket fails while a command drains, the driver passes on the error of the socket and does not retry the
 *   command. A commit even fails with a TypeError.
 *
 * With the patch the command fails like any command whose connection breaks, so that the driver can retry it.
 *
 * No upstream issue describes it; NODE-6370 is a neighbour. Delete this file when its tests pass without it.
 * See docs/adr/0030.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** The internals that are used; the driver's version is pinned. */
interface Connection {
  socket: Socket;
  /** Handles the close of the socket: later commands fail. */
  onClose(): void;
  /** Throws the reason if the connection is closed. */
  throwIfAborted(): void;
  writeCommand(this: Connection, command: unknown, options: unknown): Promise<void>;
}

// `require` instead of `import`: the driver's internals have no types
const internals: { Connection: { prototype: Connection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const { MongoError, MongoNetworkError } = mongoose.mongo;
const connection = internals.Connection.prototype;
const { writeCommand } = connection;
const watchedSockets = new WeakSet<Socket>();

connection.writeCommand = async function (command, options) {
  const { socket } = this;
  if (!watchedSockets.has(socket)) {
    watchedSockets.add(socket);
    socket.once('close', () => {
      // a writer that waits for 'drain' listens only for errors
      if (socket.listenerCount('drain') > 0)
        socket.emit('error', new MongoNetworkError('The connection was closed'));
    });
  }
  if (socket.destroyed) {
    this.onClose();
    this.throwIfAborted();
  }
  try {
    await writeCommand.call(this, command, options);
  } catch (error) {
    const hasConnectionFailed = error instanceof Error && !(error instanceof MongoError) && socket.destroyed;
    if (!hasConnectionFailed) throw error;
    throw new MongoNetworkError('The connection failed while a command was sent', { cause: error });
  }
};
