/** Receives webhooks: verifies each request, answers at once, ignores duplicates. Needs only Node 18 or newer. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET ?? '';
const port = Number(process.env.PORT ?? 3000);
const maxBytes = 1024 * 1024;
const toleranceSeconds = 300;
const maxIds = 10_000;

if (!/^whsec_./.test(secret)) {
  console.error('Set WEBHOOK_SECRET to the secret of the webhook (whsec_…).');
  process.exit(2);
}

/** The ids of the last events. Use a table with a unique id instead if your receiver can restart. */
const processedIds = new Set();

const server = createServer((request, response) => {
  receive(request, response).catch((error) => {
    console.error(error.message);
    if (response.headersSent) return;
    response.writeHead(500).end();
  });
});
server.listen(port, '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${server.address().port}/`),
);

async function receive(request, response) {
  if (request.method !== 'POST') return response.writeHead(405, { Allow: 'POST' }).end();
  const body = await readBody(request);
  if (body === undefined) return response.writeHead(413, { Connection: 'close' }).end();
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  const isNew = addId(request.headers['webhook-id']);
  // the service waits ten seconds for the answer, so the work comes after it
  response.writeHead(204).end();
  if (isNew) processEvent(JSON.parse(body.toString('utf8')));
}

/** Put your work here. */
function processEvent({ event_type, data }) {
  console.log(event_type, data.document?.title ?? '');
}

/** The raw bytes, because the signature covers them; undefined if there are too many. */
async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Verifies the signature, and the timestamp to prevent replay attacks (https://www.standardwebhooks.com). */
function isGenuine(headers, body) {
  const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`webhook-${name}`],
  );
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  // during a rotation of the secret there are several signatures
  return signatures.split(' ').some((one) => isSame(one, `v1,${mac}`));
}

function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether an event is new. Remembers its id. */
function addId(id) {
  if (processedIds.has(id)) return false;
  processedIds.add(id);
  // a set lists its oldest entry first
  if (processedIds.size > maxIds) processedIds.delete(processedIds.values().next().value);
  return true;
}
