/**
 * A client that sends the same GET request again and again for little CPU time. It shares the cores with the service,
 * so its CPU time delays the responses: with `undici` instead, the p99 of the overload rows is up to twice as high
 * (docs/benchmarks.md).
 */
import { once } from 'node:events';
import { connect } from 'node:net';

/** The status of a response, and the time from the call of `send` until its last byte. */
export interface Answer {
  status: number;
  ms: number;
}

/** The request, and the number of connections that send it. */
export interface RepeatingClientOptions {
  origin: string;
  path: string;
  key: string;
  connections: number;
}

/** A client with open connections. */
export interface RepeatingClient {
  /** Sends the request once a connection is idle. Rejects if the connection fails or is closed before the last byte. */
  send(): Promise<Answer>;
  close(): void;
}

/** Opens the connections. */
export async function createRepeatingClient(options: RepeatingClientOptions): Promise<RepeatingClient> {
  const { origin, path, key, connections } = options;
  const { host, hostname, port } = new URL(origin);
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n\r\n`);
  const all = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))));
  const idle = [...all];
  const waiting: ((connection: Connection) => void)[] = [];
  return {
    async send() {
      const calledAt = performance.now();
      const connection = idle.shift() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
      try {
        const status = await connection.send(bytes);
        return { status, ms: performance.now() - calledAt };
      } finally {
        const next = waiting.shift();
        if (next) next(connection);
        else idle.push(connection);
      }
    },
    close() {
      for (const connection of all) connection.close();
    },
  };
}

/** A connection that sends one request at a time. */
interface Connection {
  /** Returns the status of the response, once it is complete. */
  send(request: Uint8Array): Promise<number>;
  close(): void;
}

async function open(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  let status: PromiseWithResolvers<number> | undefined;
  let head = '';
  let missingBytes: number | undefined;
  socket.on('data', (chunk: Buffer) => {
    if (missingBytes === undefined) {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = /^content-length: (\d+)/im.exec(head.slice(0, end))?.[1];
      if (length === undefined) return void socket.destroy(new Error('The response has no Content-Length'));
      missingBytes = Number(length) - (head.length - end - 4);
    } else missingBytes -= chunk.length;
    if (missingBytes > 0) return;
    status?.resolve(Number(head.slice(9, 12)));
    head = '';
    missingBytes = undefined;
  });
  let closeReason = new Error('The connection was closed');
  socket.on('error', (error) => {
    closeReason = error;
  });
  socket.on('close', () => status?.reject(closeReason));
  return {
    async send(request) {
      if (socket.destroyed) throw closeReason;
      status = Promise.withResolvers();
      socket.write(request);
      return status.promise;
    },
    close: () => socket.destroy(),
  };
}
