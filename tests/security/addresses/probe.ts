/**
 * Sends webhooks to every notation of inner addresses, at which a listener counts connections, and prints the result as
 * JSON. Runs as a separate program, so that it can run in its own network namespace.
 */
import { createConnection, createServer } from 'node:net';
import { parseRange, type TargetPolicy } from '../../../services/webhook-delivery/rules/target.ts';
import { createSender } from '../../../services/webhook-delivery/transport/sender.ts';
import { innerNames, spellIpv4, spellIpv6 } from './spellings.ts';

/** What the probe found. */
export interface ProbeResult {
  /** Addresses at which a plain connection reached the listener. */
  reachable: string[];
  /** Addresses that a sender with permission for all ranges reached, which shows that connections are counted. */
  reachedWithPermission: string[];
  /** URLs whose request opened a connection. */
  opened: string[];
  /** The number of URLs that were tried. */
  tried: number;
  /** The error codes of the requests, with their numbers. */
  errors: Record<string, number>;
}

const [ipv4 = [], ipv6 = []] = (process.argv[2] ?? '')
  .split(';')
  .map((list) => list.split(',').filter(Boolean));
const addresses = [...ipv4, ...ipv6];
const timeoutMs = 10_000;
const strict: TargetPolicy = { allowLoopback: false, allowedRanges: [] };
const permissive: TargetPolicy = {
  allowLoopback: true,
  allowedRanges: ['0.0.0.0/0', '::/0'].flatMap((cidr) => parseRange(cidr) ?? []),
};

let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.on('error', () => undefined).destroy();
});
const port = await new Promise<number>((resolve) => {
  server.listen({ host: '::', port: 0 }, () => {
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : 0);
  });
});

/** Whether `work` opens a connection to the listener. */
async function opensConnection(work: () => Promise<unknown>): Promise<boolean> {
  const before = connections;
  await work();
  // a connection that was opened is accepted before the listener gets to this one
  await connect('127.0.0.1');
  return connections > before + 1;
}

/** Connects and waits until the listener has closed the connection. Resolves also if there is no connection. */
function connect(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    let isConnected = false;
    const socket = createConnection({ host, port });
    socket.on('connect', () => {
      isConnected = true;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(isConnected));
    socket.resume();
  });
}

function send(policy: TargetPolicy, host: string, resolveTo: readonly string[] = []) {
  const sender = createSender({ policy, timeoutMs, resolve: async () => resolveTo });
  const url = `https://${host}:${port}/hook`;
  return sender.send({ url, headers: {}, body: '{}' }).finally(() => sender.close());
}

const result: ProbeResult = { reachable: [], reachedWithPermission: [], opened: [], tried: 0, errors: {} };
const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address);
for (const address of addresses) {
  if (!(await connect(address))) continue;
  result.reachable.push(address);
  if (await opensConnection(() => send(permissive, bracket(address))))
    result.reachedWithPermission.push(address);
}

const hosts: [host: string, resolveTo: string[]][] = [
  ...ipv4.flatMap((address) =>
    Object.values(spellIpv4(address)).map((host) => [host, []] as [string, string[]]),
  ),
  ...ipv6.flatMap((address) =>
    Object.values(spellIpv6(address)).map((host) => [host, []] as [string, string[]]),
  ),
  ...innerNames.map((host) => [host, ['127.0.0.1', '::1']] as [string, string[]]),
  // names that resolve to an inner address, alone or after a public one
  ...addresses.map((address) => ['inside.example', [address]] as [string, string[]]),
  ...addresses.map((address) => ['mixed.example', ['8.8.8.8', address]] as [string, string[]]),
  ...ipv4.map((address) => ['mapped.example', [`::ffff:${address}`]] as [string, string[]]),
];
for (const [host, resolveTo] of hosts) {
  result.tried += 1;
  const isOpened = await opensConnection(async () => {
    const { error } = await send(strict, host, resolveTo);
    result.errors[error ?? 'none'] = (result.errors[error ?? 'none'] ?? 0) + 1;
  });
  if (isOpened) result.opened.push(`${host} → ${resolveTo.join(', ')}`);
}
server.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
