/**
 * A client that sends one GET request again and again. It needs a fraction of the CPU time of an HTTP library, so on a
 * machine with few cores an overload shows the limits of the service, not those of the client.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

/** The status of a response, and the time until its last byte, ms. */
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
  /** Sends the request once a connection is idle. Rejects if the connection is closed before the response. */
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
      const sentAt = performance.now();
      const connection = idle.shift() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
      const status = await connection.send(bytes);
      const next = waiting.shift();
      if (next) next(connection);
      else idle.push(connection);
      return { status, ms: performance.now() - sentAt };
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
  let answer: PromiseWithResolvers<number> | undefined;
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
    answer?.resolve(Number(head.slice(9, 12)));
    head = '';
    missingBytes = undefined;
  });
  let failure = new Error('The service closed the connection');
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => answer?.reject(failure));
  return {
    async send(request) {
      if (socket.destroyed) throw failure;
      answer = Promise.withResolvers();
      socket.write(request);
      return answer.promise;
    },
    close: () => socket.destroy(),
  };
}
