/** Runs the tests (`npm test -- services/documents`) with one MongoDB and one RabbitMQ for the whole run. */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { testMongo, testRabbit } from '#libs/testing';

const root = `${import.meta.dirname}/..`;
let stopped: NodeJS.Signals | undefined;
let stopJest = () => {};

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    stopped ??= name;
    stopJest();
  });
}

const starting = [
  testMongo().then(({ uri, stop }) => ({ env: { TEST_MONGODB_URI: uri }, stop })),
  testRabbit().then(({ url, stop }) => ({ env: { TEST_AMQP_URL: url }, stop })),
];
try {
  const servers = await Promise.all(starting);
  const code = stopped ? 1 : await jest(Object.assign({}, ...servers.map(({ env }) => env)));
  process.exitCode = stopped ? 130 : code;
} finally {
  // also stop a server that started while the other one failed
  const started = await Promise.allSettled(starting);
  await Promise.all(started.map((result) => result.status === 'fulfilled' && result.value.stop()));
}

async function jest(servers: Record<string, string>): Promise<number> {
  const node = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules'];
  const guard = ['--require', `${root}/scripts/end-with-parent.cjs`];
  const display = '--reporters=<rootDir>/scripts/progress-reporter.js';
  const args = process.argv.slice(2);
  // the list of reporters ends only at the next flag, so --maxWorkers or the first argument must follow it
  const workers = args.some((word) => word.startsWith('--maxWorkers')) ? [] : ['--maxWorkers=3'];
  const cli = [`${root}/node_modules/jest/bin/jest.js`, display, ...workers];
  if (args.length === 0) printSkippedFiles();
  const child = spawn(process.execPath, [...node, ...guard, ...cli, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...servers, PDS_PARENT_PID: String(process.pid) },
  });
  stopJest = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 3_000).unref();
  };
  return new Promise((done) => {
    child.on('exit', (code) => done(code ?? 1));
    child.on('error', () => done(1));
  });
}

function printSkippedFiles(): void {
  const folders = { 'tests/chaos/on-demand': 'npm run test:chaos', 'tests/e2e': 'npm run test:e2e' };
  for (const [folder, command] of Object.entries(folders)) {
    const { length } = globSync(`${folder}/*.test.ts`, { cwd: root });
    console.log(
      `Skipped ${length} slow ${length === 1 ? 'file' : 'files'} in ${folder}. Run ${length === 1 ? 'it' : 'them'} with ${command}.`,
    );
  }
}
