/** Tests the body and the headers of webhook messages. */
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { toBody, toHeaders } from './message.ts';

test('the body has exactly the five public fields of an event', () => {
  const event = {
    id: 'e',
    type: 'document.published',
    occurred_at: '2026-11-21T09:30:00.000Z',
    organization_id: 'o',
    actor_id: 'secretive',
    data: { document: { id: 'd' } },
  };
  expect(toBody(event)).toBe(
    '{"id":"e","event_type":"document.published","timestamp":"2026-11-21T09:30:00.000Z","organization_id":"o","data":{"document":{"id":"d"}}}',
  );
});

test('the headers contain event, delivery, attempt and signatures', () => {
  const secrets = [new Secret(`whsec_${'A'.repeat(43)}=`)];
  const at = new Date('2026-11-21T09:30:00.900Z');
  const headers = toHeaders({
    eventId: 'e',
    eventType: 'webhook.test',
    deliveryId: 'd',
    attempt: 2,
    body: '{}',
    secrets,
    at,
  });
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'X-Service-Event': 'webhook.test',
    'X-Service-Delivery': 'd',
    'X-Service-Attempt': '2',
    'X-Service-Signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    'webhook-id': 'e',
    'webhook-timestamp': String(Date.parse('2026-11-21T09:30:00Z') / 1000),
    'webhook-signature': expect.stringMatching(/^v1,/),
  });
});
