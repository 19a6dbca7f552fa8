/** The stage: one database, the services and the floor over it in a process each, and what rows need to prepare themselves. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { getConsumers, toTopology } from '#libs/events';
import { contracts } from '../services/contracts.ts';
import { DocumentPublished } from '../services/documents/contract.ts';
import type { Db, Row as DbRow } from './baseline/handler.ts';
import { type Client, client } from './load.ts';
import { freePort, type Program, type Run, start } from './processes.ts';

/** Ours, or the floor. */
export type Side = 'ours' | 'floor';

/** An organization with credentials of its admin. */
export interface Organization {
  key: string;
  slug: string;
  /** An access token of the admin, for fifteen minutes from the registration. */
  token: string;
}

/** What rows are measured on. */
export interface BenchFixture {
  db: Db;
  /** How either side is started once more. */
  runs: Record<Side, Run>;
  programs: Record<Side, Program>;
  clients: Record<Side, Client>;
  /** Connections to another program. */
  connect(origin: string): Client;
  /** The organization that rows may share. */
  home: Organization;
  /** A new organization. */
  register(): Promise<Organization>;
  /** Asks our API as an organization; gives the parsed answer. */
  api(
    organization: Pick<Organization, 'key'>,
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    // biome-ignore lint/suspicious/noExplicitAny: rows read responses of every shape; a wrong one fails its row
  ): Promise<any>;
  /** Copies a document with its nodes as new drafts, straight into MongoDB; gives their ids. */
  copies(id: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts both sides over a new database; `profile` is a folder that gets a CPU profile of each. */
export async function openStage(mongoUri: string, profile?: string): Promise<BenchFixture> {
  const uri = new URL(mongoUri);
  uri.pathname = `/bench_${randomBytes(4).toString('hex')}`;
  const managementPort = await freePort();
  const mongo = await mongoose.mongo.MongoClient.connect(uri.href);
  const db = mongo.db();
  const runs = {
    ours: {
      file: 'services/all.ts',
      ready: '/api/v1/openapi.json',
      environment: (port: number) => ({ ...servicesOver(uri.href, managementPort), PORT: String(port) }),
    },
    floor: {
      file: 'bench/baseline.ts',
      ready: '/nothing',
      environment: (port: number) => ({ MONGODB_URI: uri.href, PORT: String(port), HEARERS: hearers }),
    },
  };
  const flags = (side: Side) => (profile ? ['--cpu-prof', `--cpu-prof-dir=${join(profile, side)}`] : []);
  const started: { stop(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((one) => one.stop()));
    await db.dropDatabase();
    await mongo.close();
  };
  try {
    const ours = await start({ ...runs.ours, flags: flags('ours') });
    started.push(ours);
    await prepareFloor(db);
    const floor = await start({ ...runs.floor, flags: flags('floor') });
    started.push(floor);
    const clients = { ours: client(ours.origin), floor: client(floor.origin) };
    for (const one of Object.values(clients)) started.unshift({ stop: () => one.close() });
    const register = () => registered(clients.ours);
    return {
      db,
      runs: { ...runs, ours: elsewhere(runs.ours, await freePort()) },
      programs: { ours, floor },
      clients,
      connect: client,
      home: await register(),
      register,
      api: async ({ key }, method, path, body) =>
        JSON.parse(await clients.ours.ask({ method, path: `/api/v1${path}`, body, key })),
      copies: (id, count) => copies(db, id, count),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function servicesOver(uri: string, managementPort: number): Record<string, string> {
  return {
    MONGODB_URI: uri,
    HOST: '127.0.0.1',
    MANAGEMENT_PORT: String(managementPort),
    ENCRYPTION_KEYS: encryptionKey,
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_MINUTE: '0',
    // counted as ever, and never too many
    LOGINS_PER_MINUTE: '1000000',
    REGISTRATIONS_PER_HOUR: '0',
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
    DEFAULT_PLAN: 'scale',
    // receivers are on this machine
    WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
    DRAIN_SECONDS: '1',
  };
}

/** How many services hear that a document was published. */
const hearers = String(getConsumers(toTopology(contracts), DocumentPublished.name).length);

/** One for all runs over a database, of no use beyond it. */
const encryptionKey = randomBytes(32).toString('base64');

/** The same program beside the first: with another management port. */
function elsewhere(run: Run, managementPort: number): Run {
  return {
    ...run,
    environment: (port) => ({ ...run.environment(port), MANAGEMENT_PORT: String(managementPort) }),
  };
}

/** The floor's own collections have the same indexes as those of services. */
async function prepareFloor(db: Db): Promise<void> {
  for (const [ours, floor] of likeOurs)
    for (const index of await db.collection(ours).indexes()) {
      const { key, v: _v, ...options } = index;
      if (index.name !== '_id_') await db.collection(floor).createIndex(key, options);
    }
  await db.collection('floor_inbox').createIndex({ handled_at: 1 });
  await db.collection('floor_nodes').createIndex({ document_id: 1, _id: 1 });
}

const likeOurs = [
  ['documents_outbox', 'floor_outbox'],
  ['webhook_events', 'floor_events'],
  ['webhook_deliveries', 'floor_deliveries'],
] as const;

async function registered(ours: Client): Promise<Organization> {
  const unique = randomBytes(6).toString('hex');
  const account = {
    organization_name: `Bench ${unique}`,
    name: 'Ada Example',
    email: `ada-${unique}@example.com`,
    password: `correct horse ${unique}`,
  };
  const post = async (path: string, body: object, key = '') =>
    JSON.parse(await ours.ask({ method: 'POST', path: `/api/v1${path}`, body, key }));
  const session = await post('/auth/register', account);
  const { key } = await post('/api-keys', { name: 'Bench', role: 'admin' }, session.access_token);
  return { key, slug: session.organization.slug, token: session.access_token };
}

const nodesAtOnce = 10_000;

/** A draft whose words count as up to date: nothing follows behind. */
const blank = { status: 'draft', published_at: null, reindex_at: null };

async function copies(db: Db, id: string, count: number): Promise<string[]> {
  const documents = db.collection<DbRow>('documents');
  const nodes = db.collection<DbRow>('nodes');
  const document = await documents.findOne({ _id: id });
  if (!document) throw new Error('There is no document to copy');
  const tree = await nodes.find({ document_id: id }).toArray();
  const ids = Array.from({ length: count }, newId);
  for (let at = 0; at < count; ) {
    const chunk = ids.slice(at, at + Math.max(1, Math.floor(nodesAtOnce / (tree.length + 1))));
    at += chunk.length;
    await documents.insertMany(chunk.map((_id) => ({ ...document, ...blank, _id, family_id: _id })));
    const copied = chunk.flatMap((document_id) => {
      const named = new Map(tree.map(({ _id }) => [_id, newId()]));
      return tree.map((node) => ({
        ...node,
        _id: named.get(node._id) ?? newId(),
        document_id,
        parent_id: named.get(node.parent_id) ?? null,
      }));
    });
    if (copied.length > 0) await nodes.insertMany(copied, { ordered: false });
  }
  return ids;
}

/** The folder of the project. */
export const root = join(import.meta.dirname, '..');
