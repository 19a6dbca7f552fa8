/** Tests signatures against the published test vectors, which were created without this code. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Secret } from '#libs/contract';
import { createSignatureHeaders, formatSecret } from './signature.ts';

interface Vector {
  name: string;
  secrets: string[];
  webhook_id: string;
  webhook_timestamp: number;
  body: string;
  headers: Record<string, string>;
}

const published = new URL('../../../docs/webhook-test-vectors.json', import.meta.url);
const { vectors }: { vectors: Vector[] } = JSON.parse(readFileSync(published, 'utf8'));

describe('published test vectors', () => {
  test.each(vectors)(
    'the signatures match the vector: $name',
    ({ webhook_id, webhook_timestamp, body, secrets, headers }) => {
      const secretValues = secrets.map((secret) => new Secret(secret));
      expect(
        createSignatureHeaders({ id: webhook_id, timestamp: webhook_timestamp, body, secrets: secretValues }),
      ).toEqual(headers);
    },
  );
});

test('during a rotation, receivers with the old or new secret accept', () => {
  const [older, newer] = [formatSecret(new Uint8Array(32).fill(1)), formatSecret(new Uint8Array(32).fill(2))];
  const timestamp = Math.floor(Date.now() / 1000);
  const secrets = [new Secret(newer), new Secret(older)];
  const headers = createSignatureHeaders({ id: 'msg', timestamp, body: '{"ü":1}', secrets });
  expect(new Webhook(older).verify('{"ü":1}', headers)).toEqual({ ü: 1 });
  expect(new Webhook(newer).verify('{"ü":1}', headers)).toEqual({ ü: 1 });
  expect(() => new Webhook(newer).verify('{"ü":2}', headers)).toThrow();
});

test('formatSecret returns whsec_ and the base64 of 32 bytes', () => {
  expect(formatSecret(new Uint8Array(32))).toBe(`whsec_${'A'.repeat(43)}=`);
});
