/** A TCP proxy that injects network faults: cut connections, latency, slicing and limited bandwidth. */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listenLocally } from './ports.ts';

/** A running proxy. */
export interface TcpProxy {
  /** The server's URL with the host and port of the proxy. */
  url: string;
  /** Closes the connection when a client sends these bytes; happens `times` times. */
  cutAfter(bytes: Buffer, times: number): void;
  /** How many cuts of `cutAfter` are left. */
  remainingCuts(): number;
  /** Replaces the toxics of both directions; an empty object removes them. */
  setToxics(toxics: Toxics): void;
  /** Resolves when a client sends these bytes; they and all data after them are not forwarded. */
  holdAt(bytes: Buffer): Promise<void>;
  /** Closes all connections and discards held bytes. */
  resetAll(): void;
  /** Resets all connections (RST). */
  reset(): void;
  close(): Promise<void>;
}

/** Faults of a connection. */
export interface Toxics {
  /** Delay of all data, ms. */
  latencyMs?: number;
  /** Splits data into packets of this size. */
  sliceBytes?: number;
  /** Bandwidth of a connection in each direction. */
  bytesPerSecond?: number;
}

/** Bytes in flight in one direction of a connection before the proxy pauses the sender. */
const maxInFlight = 4 * 1024 * 1024;

/** Starts a proxy to a server on a free loopback port. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let toxics: Toxics = {};
  let cutPattern: Buffer = Buffer.alloc(0);
  let cutsLeft = 0;
  let hold: { pattern: Buffer; reached(): void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    closeTogether(client, upstream);
    closeTogether(upstream, client);
    forward(upstream, client);
    forward(client, upstream, decide);
  });
  const proxyUrl = new URL(url);
  proxyUrl.port = String(await listenLocally(server));
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: proxyUrl.href,
    cutAfter(bytes, times) {
      cutPattern = bytes;
      cutsLeft = times;
    },
    remainingCuts: () => cutsLeft,
    setToxics(next) {
      toxics = next;
    },
    holdAt(bytes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = { pattern: bytes, reached: resolve };
      return promise;
    },
    resetAll() {
      hold = undefined;
      closeConnections();
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      closeConnections();
      await closeServer(server);
    },
  };

  /** Decides what happens to data from a client. */
  function decide(bytes: Buffer): 'pass' | 'cut' | 'hold' {
    if (hold && bytes.includes(hold.pattern)) {
      hold.reached();
      return 'hold';
    }
    if (cutsLeft === 0 || !bytes.includes(cutPattern)) return 'pass';
    cutsLeft -= 1;
    return 'cut';
  }

  /** Forwards one direction of a connection with the current toxics. */
  function forward(from: Socket, to: Socket, decideOn: typeof decide = () => 'pass'): void {
    let queue: Promise<void> = Promise.resolve();
    let inFlight = 0;
    let isHeld = false;
    const closed = new AbortController();
    to.once('close', () => closed.abort());
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => {
      const action = isHeld ? 'hold' : decideOn(bytes);
      if (action === 'cut') return from.destroy();
      isHeld = action === 'hold';
      if (isHeld) return;
      inFlight += bytes.length;
      if (inFlight > maxInFlight) from.pause();
      const receivedAt = performance.now();
      queue = queue.then(async () => {
        await send(bytes, receivedAt, to, closed.signal);
        inFlight -= bytes.length;
        if (inFlight <= maxInFlight) from.resume();
      });
    });
  }

  /** Sends data with the current toxics. Ends at once when the socket closes. */
  async function send(bytes: Buffer, receivedAt: number, to: Socket, signal: AbortSignal): Promise<void> {
    const wait = (ms: number) => pause(ms, undefined, { signal }).catch(() => {});
    const { latencyMs = 0, sliceBytes = bytes.length, bytesPerSecond } = toxics;
    const waitMs = receivedAt + latencyMs - performance.now();
    if (latencyMs > 0 && waitMs > 0) await wait(waitMs);
    for (let from = 0; from < bytes.length && !to.destroyed; from += sliceBytes) {
      const piece = bytes.subarray(from, from + sliceBytes);
      to.write(piece);
      if (bytesPerSecond) await wait((1000 * piece.length) / bytesPerSecond);
      // sends each piece in a separate packet
      else if (sliceBytes < bytes.length) await wait(0);
    }
  }

  /** Closes the other socket when this one closes. */
  function closeTogether(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  }
}
