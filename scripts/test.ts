/** Runs the tests (`npm test -- services/documents`): brings one real MongoDB for the whole run and takes it away again. */
import { spawn } from 'node:child_process';
import { testMongo } from '#libs/testing';

const root = `${import.meta.dirname}/..`;
let stopped: NodeJS.Signals | undefined;
let stopJest = () => {};

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    stopped ??= name;
    stopJest();
  });
}

const mongo = await testMongo();
try {
  const code = stopped ? 1 : await jest({ TEST_MONGODB_URI: mongo.uri });
  process.exitCode = stopped ? 130 : code;
} finally {
  await mongo.stop();
}

async function jest(servers: Record<string, string>): Promise<number> {
  const node = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules'];
  const guard = ['--require', `${root}/scripts/end-with-parent.cjs`];
  const display = '--reporters=<rootDir>/scripts/progress-reporter.js';
  // the list of reporters ends only at the next flag
  const cli = [`${root}/node_modules/jest/bin/jest.js`, display, '--maxWorkers=2'];
  const child = spawn(process.execPath, [...node, ...guard, ...cli, ...process.argv.slice(2)], {
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
