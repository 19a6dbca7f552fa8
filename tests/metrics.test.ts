/** Tests that every exported metric is declared and that clients cannot create new series. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Metric, runtimeMetrics } from '#libs/service';
import {
  createWebhook,
  httpClient,
  readSeries,
  register,
  type Series,
  shareDocument,
  sumSeries,
  type TestApp,
  testApp,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { getLabelValues, getMetrics } from '../services/metrics.ts';
import { services } from '../services/testing/services.ts';
import { importForm, pictureForm } from './permissions/fixture.ts';

const { ofProcess, ofEachService, own } = getMetrics();
const declared = [...ofProcess, ...ofEachService, ...own.flatMap(({ metrics }) => metrics)];

let app: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await webhookReceiver();
  app = await testApp({ services, contracts });
});
afterAll(async () => {
  await app?.stop();
  await receiver?.close();
});

/** The declared metric of a series. */
function findMetric({ name }: Series): Metric | undefined {
  return declared.find((one) => {
    if (one.type !== 'histogram') return one.name === name;
    return ['_bucket', '_sum', '_count'].some((end) => one.name + end === name);
  });
}

/** Uses the product so that nearly every metric gets a value. */
async function useEveryFeature(): Promise<void> {
  const ada = await register(app);
  const as = ada.key;
  await createWebhook(app, as, receiver.url);
  await app.request('POST', '/imports/preview', { as, body: importForm() });
  const { body: asset } = await app.request('POST', '/assets', { as, body: pictureForm() });
  const content = { type: 'doc', content: [{ type: 'image', attrs: { src: asset.src } }] };
  const nodes = [{ node_type: 'section', title: 'Picture', content }];
  const { id, path } = await shareDocument(app, as, { title: 'Shared', nodes });
  for (const form of ['word?template_id=default', 'markdown'])
    await app.request('GET', `/documents/${id}/export/${form}`, { as });
  await app.request('GET', path);
  await app.request('GET', `/embed/${ada.slug}/nothing`);
  await app.request('GET', `${path}/assets/${asset.id}`);
  const body = { password: 'a password' };
  await app.request('PATCH', `/documents/${id}/share-token`, { as, body });
  await app.request('POST', path, { body: new URLSearchParams(body) });
  await app.request('GET', '/nowhere');
  await app.request('PATCH', `/documents/${id}/review`, { as, body: { every_months: 1 } });
  const documents = app.db.collection<{ _id: string; review_notice_at: Date | null }>('documents');
  const now = new Date();
  const isDue = { _id: id, review_notice_at: { $lte: now } };
  await documents.updateOne({ _id: id }, { $set: { review_notice_at: now } });
  await until('the notice about the review', async () => (await documents.countDocuments(isDue)) === 0);
  const settings = { settings: { lock_published: true } };
  await app.request('PATCH', '/organization', { as, body: settings });
  const asked = { document_id: id, audience: { everyone: true } };
  await app.request('POST', '/acknowledgement-requests', { as, body: asked });
  const { content_hash } = (await app.request('GET', `/documents/${id}`, { as })).body;
  const acknowledged = { as: ada.token, body: { document_id: id, content_hash } };
  await app.request('POST', '/acknowledgements', acknowledged);
  await until('the delivery', async () =>
    (await app.request('GET', '/webhooks/events', { as })).body.some(
      ({ status }: { status: string }) => status === 'delivered',
    ),
  );
}

/** Sends invalid requests with random content in every position. */
async function sendNonsense(seed: number): Promise<void> {
  const as = (await register(app)).key;
  const text = (at: number) => `${seed}-${at}-${Math.random()}`;
  for (let at = 0; at < 4; at += 1) {
    await app.request('GET', `/${text(at)}`, { as });
    await app.request('GET', `/documents/${text(at)}`, { as });
    await app.request('GET', `/documents/${crypto.randomUUID()}`, {
      as,
      headers: { 'x-request-id': text(at) },
    });
    await app.request('PATCH', `/documents/${crypto.randomUUID()}`, { as, body: { [text(at)]: 1 } });
    await app.request('GET', `/documents?${text(at)}=${text(at)}`, { as: text(at) });
    await app.request('GET', `/embed/${text(at)}/${text(at)}`, { headers: { 'user-agent': text(at) } });
    await app.request('POST', '/auth/login', {
      body: { email: `${text(at)}@example.com`, password: text(at) },
    });
    await app.request('DELETE', '/documents', { as });
    await httpClient(app.origin).request('GET', '/%E0%A4%A');
  }
  for (const method of ['PROPFIND', 'M-SEARCH', 'OPTIONS', 'TRACE', 'REPORT'])
    await new Promise<void>((done) => {
      request(`${app.origin}/api/v1/documents/${text(0)}`, { method }, (answer) => {
        answer.resume().on('end', done);
      }).end();
    });
}

test('every exported series is declared with its labels and values', async () => {
  await useEveryFeature();
  const runtime = await runtimeMetrics();
  const isRuntimeSeries = ({ name }: Series) =>
    runtime.some((one) => name === one.name || name.startsWith('nodejs_gc_duration_seconds'));
  const series = await readSeries(app.management);
  for (const one of series.filter((one) => !isRuntimeSeries(one))) expectDeclared(one);
});

/** Expects that a series has the labels of its metric, with declared values. */
function expectDeclared(one: Series): void {
  const names = services.map(({ contract }) => contract.name);
  const metric = findMetric(one);
  if (!metric) throw new Error(`${one.name} is not declared`);
  const { le: _le, service, ...labels } = one.labels;
  expect(service === undefined).toBe(ofProcess.includes(metric));
  if (service !== undefined) expect(names).toContain(service);
  expect(Object.keys(labels)).toEqual(Object.keys(metric.labels));
  for (const [label, values] of Object.entries(metric.labels))
    if (getLabelValues(values).length > 0) expect(getLabelValues(values)).toContain(labels[label]);
}

test('every declared metric has a value after normal use', async () => {
  const rare = [
    ...['events_dead_lettered_total', 'export_rejected_total', 'import_rejected_total'],
    'quota_rejections_total',
    'assets_deleted_total',
  ];
  const usual = declared.filter(({ name }) => !rare.includes(name));
  let series: Series[] = [];
  const getMissing = () => usual.filter((metric) => !series.some((one) => findMetric(one) === metric));
  // a gauge that takes too long is left out, so the page is read again
  await until('every metric', async () => {
    series = await readSeries(app.management);
    return getMissing().length === 0;
  }).catch(() => undefined);
  expect(getMissing().map(({ name }) => name)).toEqual([]);
  const sum = (name: string, labels = {}) => sumSeries(series, name, labels);
  expect(sum('webhook_delivery_latency_seconds_count', { attempt: '1' })).toBe(1);
  expect(sum('event_age_seconds_count', { type: 'document.published' })).toBeGreaterThan(0);
  expect(sum('embed_responses_total', { cache: 'miss' })).toBe(1);
  expect(sum('export_duration_seconds_count', { size: 'small' })).toBe(2);
  expect(sum('mongodb_command_duration_seconds_count', { command: 'find', outcome: 'ok' })).toBeGreaterThan(
    5,
  );
  expect(sum('mongodb_command_duration_seconds_count', { command: 'commitTransaction' })).toBeGreaterThan(0);
  for (const { contract } of services)
    expect(sum('mongodb_pool_connections', { service: contract.name })).toBeGreaterThan(0);
  expect(sum('event_bus_up')).toBe(1);
  const [build] = series.filter(({ name }) => name === 'build_info');
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(build?.labels).toEqual({ version, runtime: `node ${process.versions.node}` });
});

test('invalid requests increase values but create no series', async () => {
  // transactions that conflict add commands and outcomes, and gauges that take too long are left out, at any time
  const mayChange = (one: Series) =>
    one.name.startsWith('mongodb_command_duration_seconds') || findMetric(one)?.type === 'gauge';
  const keys = (series: readonly Series[]) =>
    series
      .filter((one) => !one.name.startsWith('nodejs_') && !mayChange(one))
      .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
      .sort();
  // the first round creates the series of every problem that these requests cause
  await sendNonsense(0);
  const before = await readSeries(app.management);
  for (let seed = 1; seed < 5; seed += 1) await sendNonsense(seed);
  const after = await readSeries(app.management);
  expect(keys(after)).toEqual(keys(before));
  for (const one of after.filter(mayChange)) expectDeclared(one);
  const unmatched = (series: readonly Series[]) => sumSeries(series, 'http_unmatched_requests_total');
  expect(unmatched(after) - unmatched(before)).toBeGreaterThanOrEqual(4 * 12);
});

test('a service cannot record an undeclared metric', async () => {
  const [{ metrics: [metric] = [] } = {}] = own;
  const { createMetrics } = await import('../libs/service/metrics.ts');
  const metrics = createMetrics({ isEnabled: true });
  try {
    const counter = metric as Extract<Metric, { type: 'counter' }>;
    expect(() => metrics.forServiceMetrics('documents', []).counter(counter)).toThrow(
      'is not a declared metric',
    );
  } finally {
    metrics.stop();
  }
});
