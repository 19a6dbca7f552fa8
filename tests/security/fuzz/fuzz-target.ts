/** A running process with all services, and callers in organizations of their own, for fuzz tests. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { addMember, apiClient, freePorts, type HttpClient, register, testMongo } from '#libs/testing';
import { runScript, stopProgram, supervise } from '../../programs.ts';
import { createReference } from './reference.ts';

/** The role of a caller. */
export type Role = 'admin' | 'member' | 'anonymous';

/** A caller in a new organization, which has resources of every kind. */
export interface Caller {
  /** An access token; undefined for an anonymous caller. */
  token: string | undefined;
  /** The file with the OpenAPI reference, in which the ids of the resources are possible values. */
  reference: string;
  /** A folder for reports. */
  folder: string;
}

/** The process under test. */
export interface FuzzTarget {
  origin: string;
  api: HttpClient;
  db: mongoose.mongo.Db;
  createCaller(role: Role): Promise<Caller>;
  /** The lines of the log about responses with 5xx and about failures in the background. */
  getErrors(): string[];
  stop(): Promise<void>;
}

const settings = {
  LOG_LEVEL: 'info',
  DRAIN_SECONDS: '3',
  DEFAULT_PLAN: 'scale',
  RATE_LIMIT_PER_MINUTE: '0',
  REGISTRATIONS_PER_HOUR: '0',
  LOGINS_PER_MINUTE: '0',
  LOGIN_FAILURES_PER_15_MINUTES: '0',
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
  // generated URLs must not be called: nothing listens at this port
  WEBHOOK_PROXY_URL: 'http://127.0.0.1:9',
};

/** Starts the process on a new database. */
export async function startFuzzTarget(): Promise<FuzzTarget> {
  const [mongo, ports, folder] = await Promise.all([
    testMongo(),
    freePorts(2),
    mkdtemp(join(tmpdir(), 'pds-fuzz-')),
  ]);
  const uri = new URL(mongo.uri);
  uri.pathname = `/fuzz_${randomBytes(4).toString('hex')}`;
  const client = await mongoose.mongo.MongoClient.connect(uri.href);
  const environment = {
    ...settings,
    MONGODB_URI: uri.href,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: String(ports[0]),
    MANAGEMENT_PORT: String(ports[1]),
  };
  const launch = () => runScript('../tests/security/fuzz/server.ts', [], environment);
  const program = await supervise({ name: 'the services', launch, ready: /^\{.*"msg":"Ready"\}$/m });
  const origin = `http://127.0.0.1:${ports[0]}`;
  const api = apiClient(origin);
  let created = 0;
  return {
    origin,
    api,
    db: client.db(),
    async createCaller(role) {
      const admin = await register(api);
      const [member, other] = [await addMember(api, admin.token), await addMember(api, admin.token)];
      created += 1;
      const own = join(folder, String(created));
      await mkdir(own);
      const reference = join(own, 'openapi.json');
      await writeFile(reference, JSON.stringify(await createReference(api, admin, other.userId)));
      const token = { admin: admin.token, member: member.token, anonymous: undefined }[role];
      return { token, reference, folder: own };
    },
    getErrors() {
      const lines = program.printed().split('\n');
      return lines.filter((line) => /"status":5\d\d|"level":(50|60|"error"|"fatal")/.test(line));
    },
    async stop() {
      await stopProgram(program);
      await client.db().dropDatabase();
      await client.close();
      await mongo.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
