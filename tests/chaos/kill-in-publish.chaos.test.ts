/** SIGKILL during publish: a document is published and its event is sent, or neither. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { type LocalRun, localRun } from '../local-run.ts';

interface Sent {
  id: string;
  documentId: string;
}

const drafts = 40;
const sent: Sent[] = [];
let dataDir: string;
let receiver: Server;
let run: LocalRun;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pds-kill-'));
  receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const event = JSON.parse(text);
      sent.push({ id: event.id, documentId: event.data.document.id });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  run?.process.kill('SIGTERM');
  await run?.exited;
  receiver?.closeAllConnections();
  receiver?.close();
  await rm(dataDir, { recursive: true, force: true });
});

test('a killed publish stores both document and event, or neither', async () => {
  run = await localRun(dataDir);
  const key = /Demo API key +(\S+)/.exec(run.printed())?.[1] ?? '';
  const ask = (method: string, path: string, body?: unknown) => request(run.origin, key, method, path, body);
  const { port } = receiver.address() as AddressInfo;
  const webhook = { name: 'Hook', url: `http://127.0.0.1:${port}/`, event_types: ['document.published'] };
  expect((await ask('POST', '/webhooks', webhook)).status).toBe(201);

  const ids: string[] = [];
  for (let count = 0; count < drafts; count += 1) {
    const { body } = await ask('POST', '/documents', { title: `Draft ${count}` });
    ids.push(body.id);
  }

  // three kills, each while publish requests are in flight
  const answered = new Set<string>();
  for (const batch of [ids.slice(0, 15), ids.slice(15, 30), ids.slice(30)]) {
    const before = answered.size;
    const publishes = batch.map(async (id) => {
      const { status } = await ask('POST', `/documents/${id}/publish`);
      if (status !== 200) return;
      answered.add(id);
      // after the first response, while the other requests are in flight
      run.process.kill('SIGKILL');
    });
    await run.exited;
    await Promise.allSettled(publishes);
    expect(answered.size).toBeGreaterThan(before);
    run = await localRun(dataDir);
  }

  const published = new Set<string>();
  for (const id of ids) {
    const { body } = await ask('GET', `/documents/${id}`);
    if (body.status === 'published') published.add(id);
  }
  expect([...answered].filter((id) => !published.has(id))).toEqual([]);
  await until(
    'a webhook for every published document',
    async () => [...published].every((id) => sent.some((one) => one.documentId === id)),
    60_000,
  );
  expect(sent.filter(({ documentId }) => !published.has(documentId))).toEqual([]);
  // a repeated webhook has the id of the same event
  expect(new Set(sent.map(({ id }) => id)).size).toBe(published.size);
  // at least one kill interrupted a publish
  expect(published.size).toBeLessThan(drafts);
}, 180_000);

async function request(origin: string, key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
