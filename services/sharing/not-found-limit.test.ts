/** Trying links: an address has to wait, and nobody else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { sharing } from './service.ts';

describe('the limit', () => {
  test('counts what is not there, for each address on its own, and is steady', () => {
    let at = 0;
    const limit = notFoundLimit({ perMinute: 2, now: () => at });
    const tried = (address: string) => {
      const waitS = limit.getWaitSeconds(address, 'wrong');
      if (waitS === 0) limit.record(false, address, 'wrong');
      return waitS;
    };
    expect([tried('a'), tried('a'), tried('a'), tried('b')]).toEqual([0, 0, 30, 0]);
    at += 30_000;
    expect([tried('a'), tried('a')]).toEqual([0, 30]);
  });

  test('lets links through that opened before, until they end', () => {
    const limit = notFoundLimit({ perMinute: 1, now: () => 0 });
    limit.record(true, 'a', 'right');
    limit.record(false, 'a', 'wrong');
    expect([limit.getWaitSeconds('a', 'right'), limit.getWaitSeconds('a', 'another')]).toEqual([0, 60]);
    limit.record(false, 'a', 'right');
    expect(limit.getWaitSeconds('a', 'right')).toBe(60);
  });

  test('takes nothing for what is there', () => {
    const limit = notFoundLimit({ perMinute: 1, now: () => 0 });
    for (let count = 0; count < 100; count += 1) limit.record(true, 'a', 'right');
    expect(limit.getWaitSeconds('a', 'another')).toBe(0);
  });

  test('of 0 is none', () => {
    const limit = notFoundLimit({ perMinute: 0, now: () => 0 });
    for (let count = 0; count < 1_000; count += 1) limit.record(false, 'a', 'wrong');
    expect(limit.getWaitSeconds('a', 'wrong')).toBe(0);
  });
});

describe('over HTTP', () => {
  let here: TestApp;
  let ada: Person;
  let links: string[];

  beforeAll(async () => {
    const services = [identity, documents, sharing];
    const contracts = services.map((one) => one.contract);
    const environment = { EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '5', TRUSTED_PROXIES: '127.0.0.0/8' };
    here = await testApp({ services, contracts, environment });
    ada = await register(here);
    links = await Promise.all([shared(), shared()]);
  }, 60_000);
  afterAll(() => here?.stop());

  async function shared(): Promise<string> {
    const { id } = (await here.request('POST', '/documents', { as: ada.key, body: { title: 'Shared' } }))
      .body;
    await here.request('POST', `/documents/${id}/publish`, { as: ada.key });
    return (await here.request('POST', `/documents/${id}/share-token`, { as: ada.key })).body.token;
  }

  const from = (address: string, token: string, accept = '*/*') =>
    here.request('GET', `/embed/${ada.slug}/${token}`, { headers: { 'x-forwarded-for': address, accept } });

  test('who tries links gets 404s, then 429 with the seconds to wait; links that opened go on, others go on elsewhere', async () => {
    const [known = '', unknown = ''] = links;
    expect((await from('192.0.2.1', known)).status).toBe(200);
    const statuses = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await from('192.0.2.1', `wrong-${count}`)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);

    const refused = await from('192.0.2.1', unknown);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    const wait = refused.headers.get('retry-after');
    expect(Number(wait)).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-policy')).toBe('"not-found-links";q=5;w=60');
    expect(refused.headers.get('ratelimit')).toBe(`"not-found-links";r=0;t=${wait}`);
    expect(refused.headers.get('access-control-expose-headers')).toContain('RateLimit, RateLimit-Policy');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect((await from('192.0.2.1', known)).status).toBe(200);
    expect((await from('192.0.2.2', unknown)).status).toBe(200);
    expect((await from('192.0.2.1', unknown)).status).toBe(200);
  });

  test('browsers are told on a page', async () => {
    for (let count = 0; count < 5; count += 1) await from('192.0.2.3', 'wrong');
    const told = await from('192.0.2.3', 'wrong', 'text/html');
    expect([told.status, told.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Buffer.from(told.bytes).toString()).toContain('Wait a minute');
  });
});
