/** Tests of the rate limit of unknown links: it applies to one address only. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, shareDocument, type TestApp, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { sharing } from './service.ts';

describe('notFoundLimit', () => {
  test('counts unknown links per address and refills over time', () => {
    let time = 0;
    const limit = notFoundLimit({ perMinute: 2, now: () => time });
    const request = (address: string) => {
      const waitSeconds = limit.getWaitSeconds(address, 'wrong');
      if (waitSeconds === 0) limit.record(false, address, 'wrong');
      return waitSeconds;
    };
    expect([request('a'), request('a'), request('a'), request('b')]).toEqual([0, 0, 30, 0]);
    time += 30_000;
    expect([request('a'), request('a')]).toEqual([0, 30]);
  });

  test('counts IPv6 addresses by their /64, /56 and /48 networks', () => {
    const limit = notFoundLimit({ perMinute: 1, now: () => 0 });
    const request = (address: string) => {
      const waitSeconds = limit.getWaitSeconds(address, 'wrong');
      if (waitSeconds === 0) limit.record(false, address, 'wrong');
      return waitSeconds === 0;
    };
    expect([request('2001:db8:1:1::1'), request('2001:db8:1:1:2::2')]).toEqual([true, false]);
    // a /56 has twice the limit of a /64, a /48 four times
    expect([request('2001:db8:1:2::1'), request('2001:db8:1:3::1')]).toEqual([true, false]);
    const sites = ['1:100', '1:200', '1:300', '2:1'].map((site) => request(`2001:db8:${site}::1`));
    expect(sites).toEqual([true, true, false, true]);
    expect([request('::ffff:192.0.2.1'), request('192.0.2.1')]).toEqual([true, false]);
  });

  test('exempts links that worked before, until they stop working', () => {
    const limit = notFoundLimit({ perMinute: 1, now: () => 0 });
    limit.record(true, 'a', 'right');
    limit.record(false, 'a', 'wrong');
    expect([limit.getWaitSeconds('a', 'right'), limit.getWaitSeconds('a', 'another')]).toEqual([0, 60]);
    limit.record(false, 'a', 'right');
    expect(limit.getWaitSeconds('a', 'right')).toBe(60);
  });

  test('does not count links that work', () => {
    const limit = notFoundLimit({ perMinute: 1, now: () => 0 });
    for (let count = 0; count < 100; count += 1) limit.record(true, 'a', 'right');
    expect(limit.getWaitSeconds('a', 'another')).toBe(0);
  });

  test('is disabled by 0', () => {
    const limit = notFoundLimit({ perMinute: 0, now: () => 0 });
    for (let count = 0; count < 1_000; count += 1) limit.record(false, 'a', 'wrong');
    expect(limit.getWaitSeconds('a', 'wrong')).toBe(0);
  });
});

describe('the limit of unknown links over HTTP', () => {
  let app: TestApp;
  let ada: Person;
  let links: string[];

  beforeAll(async () => {
    const services = [identity, documents, sharing];
    const contracts = services.map(({ contract }) => contract);
    const environment = { EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '5', TRUSTED_PROXIES: '127.0.0.0/8' };
    app = await testApp({ services, contracts, environment });
    ada = await register(app);
    links = await Promise.all([share(), share()]);
  });
  afterAll(() => app?.stop());

  const share = async () => (await shareDocument(app, ada.key)).token;
  const from = (address: string, token: string, accept = '*/*') =>
    app.request('GET', `/embed/${ada.slug}/${token}`, { headers: { 'x-forwarded-for': address, accept } });

  test('unknown links give 404, then 429; known links keep working', async () => {
    const [opened = '', unopened = ''] = links;
    expect((await from('192.0.2.1', opened)).status).toBe(200);
    const statuses = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await from('192.0.2.1', `wrong-${count}`)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);

    const limited = await from('192.0.2.1', unopened);
    expect([limited.status, limited.body.code]).toEqual([429, 'too_many_requests']);
    const wait = limited.headers.get('retry-after');
    expect(Number(wait)).toBeGreaterThan(0);
    expect(limited.headers.get('ratelimit-policy')).toBe('"not-found-links";q=5;w=60');
    expect(limited.headers.get('ratelimit')).toBe(`"not-found-links";r=0;t=${wait}`);
    expect(limited.headers.get('access-control-expose-headers')).toContain('RateLimit, RateLimit-Policy');
    expect(limited.headers.get('access-control-allow-origin')).toBe('*');
    expect((await from('192.0.2.1', opened)).status).toBe(200);
    expect((await from('192.0.2.2', unopened)).status).toBe(200);
    expect((await from('192.0.2.1', unopened)).status).toBe(200);
  });

  test('forms for unknown links count as well', async () => {
    const [opened = ''] = links;
    const send = (token: string) =>
      app.request('POST', `/embed/${ada.slug}/${token}`, {
        body: new URLSearchParams({ password: 'a password' }),
        headers: { 'x-forwarded-for': '192.0.2.4' },
      });
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await send(`wrong-${count}`)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
    expect((await send(opened)).status).toBe(303);
  });

  test('browsers get the 429 as an HTML page', async () => {
    for (let count = 0; count < 5; count += 1) await from('192.0.2.3', 'wrong');
    const response = await from('192.0.2.3', 'wrong', 'text/html');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      429,
      'text/html; charset=utf-8',
    ]);
    expect(Buffer.from(response.bytes).toString()).toContain('Wait a minute');
  });
});
