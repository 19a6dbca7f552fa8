/** Ports of local servers. Free ports are outside the ephemeral range, so that no client connection takes them. */
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** The lowest port to try. Ephemeral ports start at 32768 on Linux by default, at 49152 on other systems. */
const firstPort = 10_000;
const ranges = 8;
const portsPerRange = 2_500;

/**
 * Finds free loopback ports. A server on such a port can be killed and restarted: the system never assigns
 * the port to a client connection meanwhile. Each parallel test process searches its own range.
 */
export async function freePorts(count: number): Promise<number[]> {
  const range = Number(process.env.JEST_WORKER_ID ?? 0) % ranges;
  const reserved: Server[] = [];
  const ports: number[] = [];
  try {
    while (ports.length < count) {
      const port = firstPort + range * portsPerRange + Math.floor(Math.random() * portsPerRange);
      const server = createServer().listen(port, '127.0.0.1');
      // stays open until all ports are found, so that none is found twice
      const isFree = await once(server, 'listening').then(
        () => true,
        () => false,
      );
      if (!isFree) continue;
      reserved.push(server);
      ports.push(port);
    }
  } finally {
    await Promise.all(reserved.map((server) => new Promise((done) => server.close(done))));
  }
  return ports;
}

/** Listens on a port of 127.0.0.1, by default on any that is free, and returns the port. */
export async function listenLocally(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  // a TCP server's address is an object once it listens
  return (server.address() as AddressInfo).port;
}

/** Stops a server. An HTTP server closes its connections first; other servers wait for theirs. */
export async function closeServer(server: Server): Promise<void> {
  if (server instanceof HttpServer) server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
