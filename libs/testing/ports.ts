/** Free ports that stay free: beyond those that the system hands out to whoever connects. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Linux hands out 32768 and more unless it is told otherwise, other systems 49152 and more. */
const first = 10_000;
const lanes = 8;
const perLane = 2_500;

/**
 * Free ports on loopback. What listens there may be killed and started again: nobody else gets the port meanwhile just
 * because it connects somewhere. Tests that run side by side look in lanes of their own.
 */
export async function freePorts(count: number): Promise<number[]> {
  const lane = Number(process.env.JEST_WORKER_ID ?? 0) % lanes;
  const taken: Server[] = [];
  const ports: number[] = [];
  try {
    while (ports.length < count) {
      const port = first + lane * perLane + Math.floor(Math.random() * perLane);
      const server = createServer().listen(port, '127.0.0.1');
      // keeps it until all are found, so that none is found twice
      const isFree = await once(server, 'listening').then(
        () => true,
        () => false,
      );
      if (!isFree) continue;
      taken.push(server);
      ports.push(port);
    }
  } finally {
    await Promise.all(taken.map((server) => new Promise((done) => server.close(done))));
  }
  return ports;
}
