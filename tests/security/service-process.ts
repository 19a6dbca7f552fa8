/** All services in a process of their own, on a new database, for tests that attack it from outside. */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { apiClient, freePorts, type HttpClient, testMongo } from '#libs/testing';
import memoryLimits from '../../scripts/memory-limits.json' with { type: 'json' };
import { runScript, type SupervisedProgram, stopProgram, supervise } from '../programs.ts';

/** The process under attack. */
export interface ServiceProcess {
  origin: string;
  port: number;
  api: HttpClient;
  db: mongoose.mongo.Db;
  program: SupervisedProgram;
  /** The lines of the log about responses with 5xx and about failures in the background. */
  getErrors(): string[];
  stop(): Promise<void>;
}

const settings = {
  LOG_LEVEL: 'info',
  DRAIN_SECONDS: '3',
  ...memoryLimits.environment,
  DEFAULT_PLAN: 'scale',
  RATE_LIMIT_PER_MINUTE: '0',
  REGISTRATIONS_PER_HOUR: '0',
  LOGINS_PER_MINUTE: '0',
  LOGIN_FAILURES_PER_15_MINUTES: '0',
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
  // generated URLs must not be called: nothing listens at this port
  WEBHOOK_PROXY_URL: 'http://127.0.0.1:9',
};

/** Starts the process. `wrapper` is a command that runs it, such as one that limits its memory. */
export async function startServiceProcess(wrapper: readonly string[] = []): Promise<ServiceProcess> {
  const [mongo, ports] = await Promise.all([testMongo(), freePorts(2)]);
  const uri = new URL(mongo.uri);
  uri.pathname = `/attacked_${randomBytes(4).toString('hex')}`;
  const client = await mongoose.mongo.MongoClient.connect(uri.href);
  const environment = {
    ...settings,
    MONGODB_URI: uri.href,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: String(ports[0]),
    MANAGEMENT_PORT: String(ports[1]),
  };
  const launch = () => runScript('../tests/security/server.ts', [], environment, { wrapper });
  const program = await supervise({ name: 'the services', launch, ready: /^\{.*"msg":"Ready"\}$/m });
  const origin = `http://127.0.0.1:${ports[0]}`;
  return {
    origin,
    port: Number(ports[0]),
    api: apiClient(origin),
    db: client.db(),
    program,
    getErrors() {
      const lines = program.printed().split('\n');
      return lines.filter((line) => /"status":5\d\d|"level":(50|60|"error"|"fatal")/.test(line));
    },
    async stop() {
      await stopProgram(program);
      await client.db().dropDatabase();
      await client.close();
      await mongo.stop();
    },
  };
}
