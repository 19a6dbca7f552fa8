/**
 * The process that starts MongoDB and RabbitMQ when a test asks for them (`GET /mongodb`, `GET /rabbitmq`). At the
 * end of its standard input it stops them and lists the files and processes that the tests have not removed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { testMongo, testRabbit } from '#libs/testing';

/** A server for all tests: its address, and how to stop it. */
interface Started {
  uri: string;
  stop(): Promise<void>;
}

const providers: Record<string, () => Promise<Started>> = {
  '/mongodb': testMongo,
  '/rabbitmq': async () => {
    const { url, stop } = await testRabbit();
    return { uri: url, stop };
  },
};
const started = new Map<string, Promise<Started>>();

const server = createServer(async ({ url = '' }, response) => {
  const provider = providers[url];
  if (!provider) return response.writeHead(404).end();
  const starting = started.get(url) ?? provider();
  started.set(url, starting);
  try {
    response.end((await starting).uri);
  } catch (error) {
    response.writeHead(500).end((error as Error).message); // a provider rejects with an Error
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // a listening TCP server has an address
});

// an interrupt reaches the whole process group; the test run then closes the standard input
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.stdin.resume().once('end', async () => {
  server.close();
  server.closeAllConnections();
  const stopping = [...started.values()].map(async (starting) => (await starting).stop());
  await Promise.allSettled(stopping);
  const processes = findProcesses();
  const left = [
    ...readdirSync(tmpdir()).map((name) => `  file ${name}`),
    ...processes.map(({ line }) => line),
  ];
  for (const { id } of processes) safely(() => process.kill(id, 'SIGKILL'), false);
  await rm(tmpdir(), { recursive: true, force: true, maxRetries: 5 });
  if (left.length > 0) process.stderr.write(`The tests left behind:\n${left.join('\n')}\n`);
  process.exit(left.length > 0 ? 1 : 0);
});

/**
 * Processes of this run: the path of its temporary folder is in their environment or command line. Works on
 * Linux only.
 */
function findProcesses(): { id: number; line: string }[] {
  const own = new Set([process.pid, process.ppid]);
  const ids = safely(() => readdirSync('/proc'), [])
    .map(Number)
    .filter((id) => id > 0 && !own.has(id));
  return ids.flatMap((id) => {
    const command = safely(() => readFileSync(`/proc/${id}/cmdline`, 'utf8'), '').replaceAll('\0', ' ');
    const environment = safely(() => readFileSync(`/proc/${id}/environ`, 'utf8'), '');
    const isOfThisRun = command.includes(tmpdir()) || environment.includes(tmpdir());
    return isOfThisRun && command ? [{ id, line: `  process ${id} ${command.slice(0, 200)}` }] : [];
  });
}

function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
