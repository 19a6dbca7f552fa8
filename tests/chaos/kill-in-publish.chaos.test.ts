/** SIGKILL during publish: a document is published and its event is sent, or neither. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import {
  apiClient,
  createDocument,
  createWebhook,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { startMongod } from '../../tools/mongod/mongod.ts';
import { type LocalRun, localRun } from '../local-run.ts';
import { findDatabaseViolations } from './violations.ts';

const batchSize = 15;
let dataDir: string;
let receiver: WebhookReceiver;
let run: LocalRun;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pds-kill-'));
  receiver = await webhookReceiver();
});

afterAll(async () => {
  run?.process.kill('SIGTERM');
  await run?.exited;
  await receiver?.close();
  await rm(dataDir, { recursive: true, force: true });
});

test('a killed publish stores both document and event, or neither', async () => {
  run = await localRun(dataDir);
  const key = /Demo API key +(\S+)/.exec(run.printed())?.[1] ?? '';
  // the origin changes with every restart
  const api = apiClient(() => run.origin);
  await createWebhook(api, key, receiver.url);

  const ids: string[] = [];
  const answered = new Set<string>();
  const published = new Set<string>();
  // at least three kills while publish requests are in flight, and more until one of them interrupted a publish
  for (let kills = 0; kills < 3 || published.size === ids.length; kills += 1) {
    const batch: string[] = [];
    for (let count = 0; count < batchSize; count += 1) batch.push((await createDocument(api, key)).id);
    ids.push(...batch);
    const before = answered.size;
    const publishes = batch.map(async (id) => {
      const { status } = await api.request('POST', `/documents/${id}/publish`, { as: key });
      if (status !== 200) return;
      answered.add(id);
      // after the first response, while the other requests are in flight
      run.process.kill('SIGKILL');
    });
    await run.exited;
    await Promise.allSettled(publishes);
    expect(answered.size).toBeGreaterThan(before);
    run = await localRun(dataDir);
    for (const id of batch) {
      const { body } = await api.request('GET', `/documents/${id}`, { as: key });
      if (body.status === 'published') published.add(id);
    }
  }

  expect([...answered].filter((id) => !published.has(id))).toEqual([]);
  // without the demo's document: it is published just before the webhook is created, which may still receive its event
  const getSent = () =>
    receiver.received
      .map(({ body }) => JSON.parse(body))
      .filter(({ data }) => ids.includes(data.document.id));
  const getDocumentIds = () => new Set(getSent().map(({ data }) => data.document.id));
  await until('a webhook for every published document', async () => {
    const ids = getDocumentIds();
    return [...published].every((id) => ids.has(id));
  });
  expect(getDocumentIds()).toEqual(published);
  // a repeated webhook has the id of the same event
  expect(new Set(getSent().map(({ id }) => id)).size).toBe(published.size);
  run.process.kill('SIGTERM');
  await run.exited;
  expect(await findViolationsInFolder()).toEqual([]);
}, 180_000);

/** Checks the database of the stopped run. The run may have left work that the next run does. */
async function findViolationsInFolder(): Promise<string[]> {
  const mongod = await startMongod({ dataDir, say: () => undefined });
  const client = await mongoose.mongo.MongoClient.connect(mongod.uri);
  try {
    return await findDatabaseViolations(client.db('process_documents'), { graceMs: 3_600_000 });
  } finally {
    await client.close();
    await mongod.stop();
  }
}
