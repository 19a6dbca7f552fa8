/**
 * The floor: the least code that does the same work, in a process of its own. A bare `node:http` server with the MongoDB
 * driver; no Express, no validation, no log, no metrics. `/<handler>/<path of the API>` does what that handler's name says.
 */
import { createServer, type IncomingMessage } from 'node:http';
import mongoose from 'mongoose';
import { askerFrom } from './baseline/authentication.ts';
import type { Ask, Asker, Handler, Told } from './baseline/handler.ts';
import { signingIn } from './baseline/login.ts';
import { reading } from './baseline/reads.ts';
import { writing } from './baseline/writes.ts';

const { MONGODB_URI = '', PORT = '0', HEARERS = '1' } = process.env;

const client = await mongoose.mongo.MongoClient.connect(MONGODB_URI, {
  maxPoolSize: 50,
  minPoolSize: 1,
  writeConcern: { w: 'majority' },
});
const db = client.db();
const askerOf = askerFrom(db);
const handlers = { ...reading(db), ...signingIn(db), ...writing(client, db, Number(HEARERS)) };
const byName = new Map<string, Handler>(Object.entries(handlers));

/** The names of the floor's handlers. */
export type FloorHandler = keyof typeof handlers;

/** Those that are asked without a key. */
const open: ReadonlySet<string> = new Set<FloorHandler>([
  'nothing',
  'logIn',
  'embed',
  'embedPage',
  'embedCold',
  'embedPageCold',
]);
const nobody: Asker = { organization_id: '', user_id: '' };

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  told(request).then(
    ({ status, text, headers }) => {
      response.writeHead(status, {
        ...headers,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    },
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.listen(Number(PORT), '127.0.0.1');

process.on('SIGTERM', () => process.exit(0));

async function told(request: IncomingMessage): Promise<Told> {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [, name = '', ...parts] = path.split('/');
  const handler = byName.get(name);
  if (!handler) return { status: 404, text: '{}' };
  const bearer = request.headers.authorization?.slice(7) ?? '';
  const asker = open.has(name) ? nobody : await askerOf(bearer);
  if (!asker) return { status: 401, text: '{}' };
  const ask: Ask = {
    parts: parts[0] === 'api' ? parts.slice(2) : parts,
    query: new URLSearchParams(query),
    body: request.method === 'GET' ? undefined : await bodyOf(request),
    asker,
  };
  return handler(ask);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
}
