/** Tests webhook verification with the published test vectors. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { verifyWebhook } from './webhook.ts';

interface Vector {
  name: string;
  secrets: string[];
  webhook_timestamp: number;
  body: string;
  headers: Record<string, string>;
}

const file = new URL('../../../docs/webhook-test-vectors.json', import.meta.url);
const { vectors }: { vectors: Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

/** The request of a vector, at the time of its timestamp. */
function toRequest({ secrets, body, headers, webhook_timestamp }: Vector) {
  return { secret: secrets[0] ?? '', body, headers: new Headers(headers), now: webhook_timestamp * 1_000 };
}

describe.each(vectors)('verifyWebhook, $name', (vector) => {
  const request = toRequest(vector);

  test.each(['webhook-signature', 'x-service-signature'] as const)(
    'accepts every secret in %s',
    async (header) => {
      for (const secret of vector.secrets) {
        const payload = await verifyWebhook({ ...request, secret, header });
        expect(payload.event_type).toBe(JSON.parse(vector.body).event_type);
      }
    },
  );

  test.each(['webhook-signature', 'x-service-signature'] as const)(
    'rejects a changed body (%s)',
    async (header) => {
      const body = vector.body.replace('"id"', '"ID"');
      await expect(verifyWebhook({ ...request, body, header })).rejects.toMatchObject({
        reason: 'wrong_signature',
      });
    },
  );

  test.each(['webhook-signature', 'x-service-signature'] as const)(
    'rejects another secret (%s)',
    async (header) => {
      const secret = `whsec_${btoa('x'.repeat(32))}`;
      await expect(verifyWebhook({ ...request, secret, header })).rejects.toMatchObject({
        reason: 'wrong_signature',
      });
    },
  );
});

describe('verifyWebhook', () => {
  const [vector] = vectors;
  if (!vector) throw new Error('There are no vectors');
  const request = toRequest(vector);

  test('accepts bytes, an array of secrets, and headers as Node has them', async () => {
    const headers = Object.fromEntries(request.headers);
    const secret = ['whsec_b2xk', request.secret];
    const body = new TextEncoder().encode(vector.body);
    expect(await verifyWebhook({ ...request, headers, secret, body })).toEqual(JSON.parse(vector.body));
    expect(await verifyWebhook({ ...request, body: body.buffer as ArrayBuffer })).toEqual(
      JSON.parse(vector.body),
    );
  });

  test.each([301_000, -301_000])('rejects a time that is %d ms away', async (ms) => {
    const rejected = expect(verifyWebhook({ ...request, now: request.now + ms })).rejects;
    await rejected.toMatchObject({ reason: 'old_timestamp' });
  });

  test('rejects every time if the tolerance is not a number', async () => {
    const toleranceSeconds = Number.NaN;
    await expect(verifyWebhook({ ...request, toleranceSeconds })).rejects.toThrow('The time of');
  });

  test('accepts a time within the tolerance', async () => {
    await expect(verifyWebhook({ ...request, now: request.now + 299_000 })).resolves.toBeDefined();
  });

  test('rejects a changed timestamp or id', async () => {
    for (const [name, value] of [
      ['webhook-timestamp', String(vector.webhook_timestamp + 1)],
      ['webhook-id', 'other'],
    ] as const) {
      const headers = new Headers(request.headers);
      headers.set(name, value);
      await expect(verifyWebhook({ ...request, headers })).rejects.toMatchObject({
        reason: 'wrong_signature',
      });
    }
  });

  test('rejects a signed request without the Standard Webhooks headers', async () => {
    const headers = { 'x-service-signature': request.headers.get('x-service-signature') ?? '' };
    await expect(verifyWebhook({ ...request, headers })).rejects.toMatchObject({ reason: 'missing_header' });
  });

  test.each(['', 'v1,', 'v1,%%%', 'sha256=00', 'v2,abc'])('rejects the signature %j', async (signature) => {
    const headers = new Headers(request.headers);
    headers.set('webhook-signature', signature);
    headers.set('x-service-signature', signature);
    for (const header of ['webhook-signature', 'x-service-signature'] as const)
      await expect(verifyWebhook({ ...request, headers, header })).rejects.toThrow();
  });

  test.each(['webhook-signature', 'x-service-signature'] as const)(
    'explains an empty secret (%s)',
    async (header) => {
      for (const secret of ['', 'whsec_', [request.secret, '']])
        await expect(verifyWebhook({ ...request, secret, header })).rejects.toThrow('begins with whsec_');
    },
  );

  test('accepts headers in upper case, as some gateways pass them', async () => {
    const entries = [...request.headers].map(([name, value]) => [name.toUpperCase(), value]);
    await expect(verifyWebhook({ ...request, headers: Object.fromEntries(entries) })).resolves.toBeDefined();
  });

  test('explains a parsed body and a value that is not a secret', async () => {
    const body = JSON.parse(vector.body);
    await expect(verifyWebhook({ ...request, body })).rejects.toThrow('is not the raw body');
    const missing = undefined as unknown as string;
    for (const secret of [missing, [], [missing], new Uint8Array(9) as unknown as string])
      await expect(verifyWebhook({ ...request, secret })).rejects.toThrow('`secret` is missing');
    await expect(verifyWebhook({ ...request, secret: 'whsec_ä' })).rejects.toThrow('begins with whsec_');
  });
});
