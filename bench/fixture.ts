/**
 * Sets up what all rows share: a database, a process of the service, a process of the baseline, and test
 * data.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { getConsumers, toTopology } from '#libs/events';
import { apiClient, type HttpClient, type Person, register } from '#libs/testing';
import memoryLimits from '../scripts/memory-limits.json' with { type: 'json' };
import { contracts } from '../services/contracts.ts';
import { DocumentPublished } from '../services/documents/contract.ts';
import { AcknowledgementMade } from '../services/sharing/contract.ts';
import type { Db, Row as DbRow } from './baseline/handler.ts';
import { type Client, createClient } from './load.ts';
import { type BenchProcess, type Command, freePort, start } from './processes.ts';

/** The service or the baseline. */
export type Side = 'service' | 'baseline';

/** The running service: one process with all services, or several processes. */
export interface MeasuredService extends BenchProcess {
  /** All processes; `pid` is the first one. */
  pids?: readonly number[];
}

/** What rows are measured with. */
export interface BenchFixture {
  db: Db;
  /** The address of the database. */
  uri: string;
  /** Whether rows compare the responses of both sides before they are measured. */
  comparesResponses: boolean;
  /** Commands that start another process of each side. */
  commands: Record<Side, Command>;
  processes: { service: MeasuredService; baseline: BenchProcess };
  clients: Record<Side, Client>;
  /** Creates a client of another process. */
  connect(origin: string): Client;
  /** An organization that rows may share. */
  organization: Person;
  /** Registers a new organization. */
  register(): Promise<Person>;
  /** A client of the service's API, for requests that are not measured. */
  api: HttpClient;
  /** Copies a document with its nodes as new drafts, directly in MongoDB. Returns their ids. */
  copyDocument(id: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Options of a fixture. */
export interface FixtureOptions {
  mongoUri: string;
  /** A folder for a CPU profile of each side. */
  profile?: string | undefined;
  /** More settings of the service. */
  settings?: Record<string, string>;
  /** The folder of the build whose service is started. Default: this one. */
  serviceRoot?: string;
  /** Whether rows compare the responses of both sides first. Default: true. */
  comparesResponses?: boolean;
  /** Starts the service with these settings. The default is one process. */
  startService?: ((settings: Record<string, string>) => Promise<MeasuredService>) | undefined;
}

/** Starts both sides with a new database. */
export async function createFixture(options: FixtureOptions): Promise<BenchFixture> {
  const { mongoUri, profile, settings, startService, serviceRoot, comparesResponses = true } = options;
  const uri = new URL(mongoUri);
  uri.pathname = `/bench_${randomBytes(4).toString('hex')}`;
  const managementPort = await freePort();
  const mongo = await mongoose.mongo.MongoClient.connect(uri.href);
  const db = mongo.db();
  const commands = {
    service: {
      file: 'services/all.ts',
      readyPath: '/api/v1',
      flags: memoryLimits.flags,
      ...(serviceRoot !== undefined && { root: serviceRoot }),
      environment: (port: number) => ({
        ...memoryLimits.environment,
        ...serviceEnvironment(uri.href, managementPort),
        ...settings,
        PORT: String(port),
      }),
    },
    baseline: {
      file: 'bench/baseline.ts',
      readyPath: '/nothing',
      environment: (port: number) => ({
        MONGODB_URI: uri.href,
        PORT: String(port),
        CONSUMERS: countConsumers(DocumentPublished.name),
        ACKNOWLEDGEMENT_CONSUMERS: countConsumers(AcknowledgementMade.name),
      }),
    },
  };
  const flags = (side: Side) => (profile ? ['--cpu-prof', `--cpu-prof-dir=${join(profile, side)}`] : []);
  const started: { stop(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((part) => part.stop()));
    await db.dropDatabase();
    await mongo.close();
  };
  try {
    const service = startService
      ? await startService(commands.service.environment(0))
      : await start({ ...commands.service, flags: [...memoryLimits.flags, ...flags('service')] });
    started.push(service);
    await prepareBaseline(db);
    const baseline = await start({ ...commands.baseline, flags: flags('baseline') });
    started.push(baseline);
    const clients = { service: createClient(service.origin), baseline: createClient(baseline.origin) };
    for (const client of Object.values(clients)) started.unshift({ stop: () => client.close() });
    const api = apiClient(service.origin);
    return {
      db,
      uri: uri.href,
      comparesResponses,
      commands: { ...commands, service: withManagementPort(commands.service, await freePort()) },
      processes: { service, baseline },
      clients,
      connect: createClient,
      organization: await register(api),
      register: () => register(api),
      api,
      copyDocument: (id, count) => copyDocument(db, id, count),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function serviceEnvironment(uri: string, managementPort: number): Record<string, string> {
  return {
    MONGODB_URI: uri,
    HOST: '127.0.0.1',
    MANAGEMENT_PORT: String(managementPort),
    ENCRYPTION_KEYS: encryptionKey,
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_MINUTE: '0',
    // logins are counted, but the limit is never reached
    LOGINS_PER_MINUTE: '1000000',
    REGISTRATIONS_PER_HOUR: '0',
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
    DEFAULT_PLAN: 'scale',
    // the webhook receivers are on this machine
    WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
    DRAIN_SECONDS: '1',
  };
}

/** Number of services that consume an event. */
function countConsumers(name: string): string {
  return String(getConsumers(toTopology(contracts), name).length);
}

/** The same key for all processes of a run, because they share the database. */
const encryptionKey = randomBytes(32).toString('base64');

/** Returns the same command with another management port, so that both processes can run at the same time. */
function withManagementPort(run: Command, managementPort: number): Command {
  return {
    ...run,
    environment: (port) => ({ ...run.environment(port), MANAGEMENT_PORT: String(managementPort) }),
  };
}

/** Creates the same indexes on the baseline's collections as the services have on theirs. */
async function prepareBaseline(db: Db): Promise<void> {
  for (const [service, baseline] of sameIndexes)
    for (const index of await db.collection(service).indexes()) {
      const { key, v: _v, ...options } = index;
      if (index.name !== '_id_') await db.collection(baseline).createIndex(key, options);
    }
  await db.collection('baseline_inbox').createIndex({ handled_at: 1 });
  await db.collection('baseline_nodes').createIndex({ document_id: 1, _id: 1 });
}

const sameIndexes = [
  ['documents_outbox', 'baseline_outbox'],
  ['webhook_events', 'baseline_events'],
  ['webhook_deliveries', 'baseline_deliveries'],
] as const;

const nodesPerInsert = 10_000;

/** Fields of a draft with an up-to-date search index, so that the copies cause no background work. */
const draftFields = { status: 'draft', published_at: null, reindex_at: null };

async function copyDocument(db: Db, id: string, count: number): Promise<string[]> {
  const documents = db.collection<DbRow>('documents');
  const nodes = db.collection<DbRow>('nodes');
  const document = await documents.findOne({ _id: id });
  if (!document) throw new Error('The document to copy was not found');
  const tree = await nodes.find({ document_id: id }).toArray();
  const ids = Array.from({ length: count }, newId);
  for (let at = 0; at < count; ) {
    const chunk = ids.slice(at, at + Math.max(1, Math.floor(nodesPerInsert / (tree.length + 1))));
    at += chunk.length;
    await documents.insertMany(chunk.map((_id) => ({ ...document, ...draftFields, _id, family_id: _id })));
    const copied = chunk.flatMap((document_id) => {
      const newIds = new Map(tree.map(({ _id }) => [_id, newId()]));
      return tree.map((node) => ({
        ...node,
        _id: newIds.get(node._id) ?? newId(),
        document_id,
        parent_id: newIds.get(node.parent_id) ?? null,
      }));
    });
    if (copied.length > 0) await nodes.insertMany(copied, { ordered: false });
  }
  return ids;
}

/** Root folder of the project. */
export const root = join(import.meta.dirname, '..');
