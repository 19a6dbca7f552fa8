/** Documents over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type World, world } from '#libs/testing';
import { identity } from '../identity/service.ts';
import { contracts } from '../contracts.ts';
import { documents } from './service.ts';

let here: World;
let ada: Person;

beforeAll(async () => {
  here = await world({ services: [identity, documents], contracts });
  ada = await register(here);
}, 60_000);
afterAll(() => here?.stop());

test('smoke', async () => {
  const t0 = performance.now();
  const made = await here.ask('POST', '/documents', { as: ada.key, body: { title: 'SOP' } });
  expect(made.status).toBe(201);
  console.log(made.body, made.headers.get('etag'), performance.now() - t0);
  const node = await here.ask('POST', `/documents/${made.body.id}/nodes`, { as: ada.key, body: { node_type: 'section', title: 'One', order: 1 } });
  console.log(node.body);
  const pub = await here.ask('POST', `/documents/${made.body.id}/publish`, { as: ada.key , headers: {'idempotency-key': 'x'}});
  console.log(pub.body, pub.status);
  const pub2 = await here.ask('POST', `/documents/${made.body.id}/publish`, { as: ada.key , headers: {'idempotency-key': 'x'}});
  console.log(pub2.body, pub2.status, pub2.headers);
  console.log((await here.ask('GET', `/documents`, { as: ada.key })).body);
  console.log((await here.ask('POST', `/documents`, { as: ada.key, body: {titl: 'x'} })).body);
});
