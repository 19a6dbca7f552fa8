/** The installed program `pds` with its own settings folder, and the services that it calls. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyJson, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import {
  findOtherNode,
  type ProgramOutput,
  type StartedProgram,
  type StartOptions,
  start,
} from './programs.ts';

/** The program and what it works with. */
export interface PdsFixture {
  app: TestApp;
  consumer: Consumer;
  /** A folder for the files of the test. */
  folder: string;
  /** The Node that runs the program: that of the machine if there is one. */
  node: string;
  /** The environment of the program, without credentials. */
  env: Record<string, string>;
  /** Registers an organization. Returns its admin, and the environment with the admin's API key. */
  createAdmin(): Promise<{ admin: Person; env: Record<string, string> }>;
  start(args: readonly string[], options?: StartOptions): StartedProgram;
  run(args: readonly string[], options?: StartOptions): Promise<ProgramOutput>;
  /** Runs a command with `--json`. Returns what it prints. Rejects if the exit code is not 0. */
  json(args: readonly string[], options?: StartOptions): Promise<AnyJson>;
  close(): Promise<void>;
}

/** Installs the program and starts the services. */
export async function createPdsFixture(): Promise<PdsFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-test-'));
  const [app, consumer] = await Promise.all([testApp({ services, contracts }), createConsumer()]);
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), HOME: folder };
  const node = findOtherNode() ?? process.execPath;
  const startPds: PdsFixture['start'] = (args, options) =>
    start(node, [consumer.pds, ...args], { cwd: folder, env, ...options });
  const run: PdsFixture['run'] = (args, options) => startPds(args, options).ended;
  return {
    app,
    consumer,
    folder,
    node,
    env,
    async createAdmin() {
      const admin = await register(app);
      return { admin, env: { ...env, PDS_URL: app.origin, PDS_KEY: admin.key } };
    },
    start: startPds,
    run,
    async json(args, options) {
      const { code, stdout, stderr } = await run([...args, '--json'], options);
      if (code !== 0) throw new Error(`pds ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
      return JSON.parse(stdout);
    },
    async close() {
      await Promise.all([app.stop(), consumer.remove(), rm(folder, { recursive: true, force: true })]);
    },
  };
}
