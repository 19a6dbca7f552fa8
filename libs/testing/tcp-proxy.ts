/** A wire to a server that breaks, hesitates and chops where a test wants it to. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A wire. */
export interface TcpProxy {
  /** The server's address, with this wire's port in it. */
  url: string;
  /** Breaks a connection when a client says these bytes, so many times. */
  cutAfter(bytes: Buffer, times: number): void;
  /** How many times are left. */
  remainingCuts(): number;
  /** How bytes travel from now on, in both directions; nothing given is fair weather. */
  setToxics(now: Toxics): void;
  /** Resolves when a client has said these bytes: they and all that comes after them stay on the wire until `breakAll`. */
  holdAt(bytes: Buffer): Promise<void>;
  /** Breaks all connections now; what was held is gone. */
  resetAll(): void;
  /** Resets all connections now (RST). */
  reset(): void;
  close(): Promise<void>;
}

/** How bytes travel. */
export interface Toxics {
  /** How much later everything arrives, ms. */
  latencyMs?: number;
  /** In pieces of so many bytes, each for itself. */
  sliceBytes?: number;
  /** How much passes through a connection, in each direction. */
  bytesPerSecond?: number;
}

/** So much may be on its way through a connection before its sender has to wait. */
const mostOnTheWay = 4 * 1024 * 1024;

/** Lays a wire to a server. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let weather: Toxics = {};
  let pattern: Buffer = Buffer.alloc(0);
  let left = 0;
  let holding: { pattern: Buffer; reached(): void } | undefined;
  const server = createServer((from) => {
    const to = connect(Number(port), hostname);
    tie(from, to);
    tie(to, from);
    carry(to, from);
    carry(from, to, heard);
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
    cutAfter(bytes, times) {
      pattern = bytes;
      left = times;
    },
    remainingCuts: () => left,
    setToxics(now) {
      weather = now;
    },
    holdAt(bytes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      holding = { pattern: bytes, reached: resolve };
      return promise;
    },
    resetAll() {
      holding = undefined;
      breakAll();
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };

  /** What becomes of what a client says. */
  function heard(bytes: Buffer): 'passes' | 'cut' | 'held' {
    if (holding && bytes.includes(holding.pattern)) {
      holding.reached();
      return 'held';
    }
    if (left === 0 || !bytes.includes(pattern)) return 'passes';
    left -= 1;
    return 'cut';
  }

  /** Carries one direction of a connection through whatever the weather is. */
  function carry(from: Socket, to: Socket, judge: typeof heard = () => 'passes'): void {
    let line: Promise<void> = Promise.resolve();
    let onTheWay = 0;
    let isHeld = false;
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => {
      const verdict = isHeld ? 'held' : judge(bytes);
      if (verdict === 'cut') return from.destroy();
      isHeld = verdict === 'held';
      if (isHeld) return;
      onTheWay += bytes.length;
      if (onTheWay > mostOnTheWay) from.pause();
      const at = performance.now();
      line = line.then(async () => {
        await pass(bytes, at, to);
        onTheWay -= bytes.length;
        if (onTheWay <= mostOnTheWay) from.resume();
      });
    });
  }

  async function pass(bytes: Buffer, at: number, to: Socket): Promise<void> {
    const { latencyMs = 0, sliceBytes = bytes.length, bytesPerSecond } = weather;
    const early = at + latencyMs - performance.now();
    if (latencyMs > 0 && early > 0) await pause(early);
    for (let from = 0; from < bytes.length && !to.destroyed; from += sliceBytes) {
      const piece = bytes.subarray(from, from + sliceBytes);
      to.write(piece);
      if (bytesPerSecond) await pause((1000 * piece.length) / bytesPerSecond);
      // each piece in a packet of its own
      else if (sliceBytes < bytes.length) await pause(0);
    }
  }

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
