/**
 * The baseline process: the least code that does the same work as the service. It is a bare `node:http`
 * server with the MongoDB driver, without Express, validation, logs and metrics. `/<handler>/<path of the
 * API>` calls the handler of that name.
 */
import { createServer, type IncomingMessage } from 'node:http';
import mongoose from 'mongoose';
import { acknowledgeHandlers } from './baseline/acknowledging.ts';
import { createAuthenticator } from './baseline/authentication.ts';
import type { BaselineRequest, BaselineResponse, Handler, Principal } from './baseline/handler.ts';
import { loginHandlers } from './baseline/login.ts';
import { readHandlers } from './baseline/reads.ts';
import { writeHandlers } from './baseline/writes.ts';

const { MONGODB_URI = '', PORT = '0', CONSUMERS = '1', ACKNOWLEDGEMENT_CONSUMERS = '1' } = process.env;

const client = await mongoose.mongo.MongoClient.connect(MONGODB_URI, {
  maxPoolSize: 50,
  minPoolSize: 1,
  writeConcern: { w: 'majority' },
});
const db = client.db();
const authenticate = createAuthenticator(db);
const handlers = {
  ...readHandlers(db),
  ...loginHandlers(db),
  ...writeHandlers(client, db, Number(CONSUMERS)),
  ...acknowledgeHandlers(client, db, Number(ACKNOWLEDGEMENT_CONSUMERS)),
};
const byName = new Map<string, Handler>(Object.entries(handlers));

/** Names of the baseline's handlers. */
export type BaselineHandlerName = keyof typeof handlers;

/** Handlers that need no authentication. */
const publicHandlers: ReadonlySet<string> = new Set<BaselineHandlerName>([
  'nothing',
  'logIn',
  'embed',
  'embedPage',
  'embedCold',
  'embedPageCold',
  'acknowledge',
]);
const anonymous: Principal = { organization_id: '', user_id: '' };

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  handle(request).then(
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

async function handle(request: IncomingMessage): Promise<BaselineResponse> {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [, name = '', ...parts] = path.split('/');
  const handler = byName.get(name);
  if (!handler) return { status: 404, text: '{}' };
  const bearer = request.headers.authorization?.slice(7) ?? '';
  const principal = publicHandlers.has(name) ? anonymous : await authenticate(bearer);
  if (!principal) return { status: 401, text: '{}' };
  const baselineRequest: BaselineRequest = {
    parts: parts[0] === 'api' ? parts.slice(2) : parts,
    query: new URLSearchParams(query),
    body: request.method === 'GET' ? undefined : await readBody(request),
    principal,
  };
  return handler(baselineRequest);
}

const formType = 'application/x-www-form-urlencoded';

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (chunks.length === 0) return undefined;
  const text = Buffer.concat(chunks).toString();
  const isForm = request.headers['content-type'] === formType;
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
}
