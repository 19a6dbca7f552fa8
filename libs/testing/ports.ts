/** Ports of local servers. Free ports are outside the ephemeral range, so that no client connection takes them. */
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** The lowest port to try. Ephemeral ports start at 32768 on Linux by default, at 49152 on other systems. */
const firstPort = 10_000;
const blocks = 400;
const portsPerBlock = 50;

/** The ports of this process that were not returned yet. */
let unused: number[] = [];

/**
 * Finds free loopback ports. A server on such a port can be killed and restarted: the system never assigns the port to
 * a client connection meanwhile, and `freePorts` returns it in no other process and never twice.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = unused.shift();
    if (port === undefined) unused = await claimBlock();
    else if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** Claims a block for this process: listens on its first port until the process ends. Returns the others. */
async function claimBlock(): Promise<number[]> {
  for (;;) {
    const first = firstPort + Math.floor(Math.random() * blocks) * portsPerBlock;
    const claim = await listen(first);
    if (!claim) continue;
    claim.unref();
    return Array.from({ length: portsPerBlock - 1 }, (_, at) => first + 1 + at);
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server) await closeServer(server);
  return server !== undefined;
}

/** Listens on a port; undefined if another server does. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
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
