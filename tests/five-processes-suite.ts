/** Tests of the five services as separate processes, under Node and under Deno. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  apiClient,
  createDocument,
  createWebhook,
  type HttpClient,
  httpClient,
  type OtlpEndpoint,
  otlpEndpoint,
  type Person,
  type ReceivedRequest,
  readSeries,
  register,
  secretScanner,
  shareDocument,
  sumSeries,
  until,
  untilReady,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { demoSteps, runDemo } from './demo.ts';
import { type FiveProcesses, fiveProcesses } from './five-processes.ts';
import { expectOneTrace } from './one-trace.ts';

/** Declares the tests of five processes under the given runtime. */
export function testFiveProcesses(runtime: 'node' | 'deno'): void {
  let five: FiveProcesses;
  let folder: string;
  let ada: Person;
  let collector: OtlpEndpoint;
  let hook: WebhookReceiver;
  let traced: ReceivedRequest | undefined;
  const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const secrets = secretScanner();

  let api: HttpClient;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pds-five-'));
    collector = await otlpEndpoint();
    hook = await webhookReceiver();
    five = await fiveProcesses(runtime, { settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin } });
    api = apiClient(five.origin, { secrets });
    ada = await register(api);
  });

  afterAll(async () => {
    await five?.stop();
    await hook?.close();
    await collector?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('each of the five processes is ready and serves its own operations', async () => {
    const own: Record<string, [string, number]> = {
      identity: ['/docs', 200],
      documents: ['/documents', 200],
      sharing: ['/embed/unknown/unknown', 404],
      export: ['/templates', 200],
      'webhook-delivery': ['/webhooks', 200],
    };
    for (const { name, origin, management } of five.services) {
      const direct = apiClient(origin, { secrets });
      await untilReady(management);
      const [path = '', status] = own[name] ?? [];
      expect([name, (await direct.request('GET', path, { as: ada.key })).status]).toEqual([name, status]);
      const series = await readSeries(management);
      const [build] = series.filter(({ name }) => name === 'build_info');
      expect(build?.labels.runtime).toMatch(new RegExp(`^${runtime} [0-9.]+$`));
      for (const name of ['event_loop_lag_seconds_count', 'process_memory_rss_bytes'])
        expect(sumSeries(series, name)).toBeGreaterThan(0);
      const { headers } = await direct.request('GET', '/unknown');
      expect(headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test('identity serves the reference page and its files', async () => {
    for (const path of ['/docs', '/docs/swagger-ui.css', '/docs/start.js', '/openapi.json']) {
      const { status, headers } = await api.request('GET', path);
      expect([path, status, headers.get('content-encoding')]).toEqual([path, 200, 'gzip']);
    }
  });

  test('identity serves the start pages, and unknown paths give 404', async () => {
    for (const path of ['/', '/api/v1']) {
      const start = (await httpClient(five.origin).request('GET', path)).body;
      expect(start).toMatchObject({ status: 'ok', services: [{ name: 'identity', status: 'ok' }] });
    }
    for (const path of ['/unknown', '/api', '/metrics'])
      expect([path, (await httpClient(five.origin).request('GET', path)).status]).toEqual([path, 404]);
  });

  test('the demo succeeds through the gateway, with events over RabbitMQ', async () => {
    const { code, text } = await runDemo(five.origin, folder);
    expect(text.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(demoSteps);
    expect(code).toBe(0);
    const embed = JSON.parse(await readFile(join(folder, 'demo-out', 'embed.json'), 'utf8'));
    expect(Object.keys(embed)).toEqual(['id', 'title', 'version', 'department', 'status', 'nodes']);
  });

  test('workers read large bodies and imported files', async () => {
    const as = ada.key;
    const { id } = await createDocument(api, as);
    const title = 'A step with a long title '.repeat(10);
    const nodes = Array.from({ length: 3_000 }, () => ({ node_type: 'section', title }));
    const tree = await api.request('PUT', `/documents/${id}/nodes`, { as, body: { nodes } });
    expect([tree.status, tree.body.nodes?.length ?? tree.body]).toEqual([200, nodes.length]);
    const file = await readFile(new URL('fixtures/imports/wartung.docx', import.meta.url));
    const form = new FormData();
    form.set('file', new File([file], 'wartung.docx'));
    const imported = await api.request('POST', '/imports', { as, body: form });
    expect([imported.status, imported.body.documents?.length ?? imported.body]).toEqual([201, 1]);
  });

  test('a webhook carries the traceparent of its change', async () => {
    const as = ada.key;
    await createWebhook(api, as, hook.url);
    const { id } = await createDocument(api, as);
    await api.request('POST', `/documents/${id}/publish`, { as, headers: { traceparent: caller } });
    traced = await until('the delivery', async () => hook.received[0]);
    const { traceparent, 'x-service-delivery': entry } = traced.headers;
    expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    const attempt = await until('the logged attempt', async () => {
      const { body } = await api.request('GET', `/webhooks/events/${entry}`, { as });
      return body.attempt_log[0];
    });
    expect(attempt).toMatchObject({ request_headers: { traceparent }, response: { body: '' } });
  });

  test('public links work while other services are down with 503', async () => {
    const as = ada.key;
    const nodes = [{ node_type: 'section', title: 'Count the cash' }];
    const link = await shareDocument(api, as, { title: 'Closing the till', nodes });
    for (const name of ['documents', 'identity', 'export']) {
      const service = five.services.find((one) => one.name === name);
      service?.process.kill('SIGTERM');
      expect([name, await service?.exited]).toEqual([name, 0]);
    }
    // the link was never opened before, so no cache contains it
    const { body } = await api.request('GET', link.path);
    expect([body.title, body.nodes[0].title]).toEqual(['Closing the till', 'Count the cash']);
    const page = Buffer.from((await api.request('GET', `${link.path}?format=html`)).bytes).toString();
    expect(page).toContain('<span>Count the cash</span></h2>');
    expect((await api.request('GET', `/embed/${link.slug}/unknown`)).status).toBe(404);
    for (const unavailable of ['/documents', '/me', '/templates']) {
      const down = await api.request('GET', unavailable, { as });
      expect([unavailable, down.status, down.body.code]).toEqual([unavailable, 503, 'unavailable']);
      expect(down.headers.get('retry-after')).toBe('2');
    }
  });

  test('each of the five processes exits with 0 on SIGTERM', async () => {
    const codes = await five.stop();
    expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('publishing is one trace over all processes, from caller to receiver', () => {
    const { traceparent, 'webhook-id': event } = traced?.headers ?? {};
    // the processes sent their remaining spans when they stopped
    expectOneTrace(collector.spans(), { caller, receiver: `${traceparent}`, event: `${event}` });
  });

  test('no process logs a password, token or key, or its MongoDB password', () => {
    for (const { name } of five.services) secrets.add(new URL(five.users.getUri(name)).password);
    const printed = [five.gateway, ...five.services].map((one) => one.printed());
    expect(secrets.findLeaks(printed.flatMap((text) => text.split('\n')))).toEqual([]);
    // the password, the token with its signature, the key, the link, and the five MongoDB passwords
    expect(secrets.size()).toBeGreaterThanOrEqual(10);
    expect(printed.join('')).toContain('"event":"api_key.create"');
  });
}
