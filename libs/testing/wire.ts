/** A wire to a server that breaks where a test wants it to. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A wire. */
export interface Wire {
  /** The server's address, with this wire's port in it. */
  url: string;
  /** Breaks a connection when a client says these bytes, so many times. */
  cut(bytes: Buffer, times: number): void;
  /** How many times are left. */
  left(): number;
  /** Breaks all connections now. */
  breakAll(): void;
  close(): Promise<void>;
}

/** Lays a wire to a server. */
export async function wireTo(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let pattern: Buffer = Buffer.alloc(0);
  let left = 0;
  const server = createServer((from) => {
    const to = connect(Number(port), hostname);
    tie(from, to);
    tie(to, from);
    to.pipe(from);
    from.on('data', (bytes: Buffer) => {
      if (left === 0 || !bytes.includes(pattern)) return to.write(bytes);
      left -= 1;
      return from.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  // a TCP server's address is an object once it listens
  through.port = String((server.address() as AddressInfo).port);
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: through.href,
    cut(bytes, times) {
      pattern = bytes;
      left = times;
    },
    left: () => left,
    breakAll,
    async close() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };

  /** An end that goes takes the other with it. */
  function tie(one: Socket, other: Socket): void {
    sockets.add(one);
    one.on('error', () => {});
    one.on('close', () => {
      sockets.delete(one);
      other.destroy();
    });
  }
}
