/** Tests that a request fails with 503 if its write conflicts do not end before the time limit. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { handle } from '#libs/http';
import { httpFixture } from '../testing/http-fixture.ts';
import { createActor, createThing, storeFixture, things } from '../testing/store-fixture.ts';

test('a 503 caused by write conflicts has a detail that names the cause', async () => {
  const fixture = await storeFixture();
  const store = await fixture.open();
  const ada = createActor();
  await createThing(store, ada, 'contended');
  const rename = (name: string, then: () => Promise<void>) =>
    store.transact(ada, async ({ session }) => {
      await store.rows(things).updateOne({ organization_id: ada.organization_id }, { name }, { session });
      await then();
      return name;
    });
  const renameThing = operation({
    id: 'renameThing',
    method: 'post',
    path: '/things',
    summary: '',
    access: anyone,
    status: 200,
    returns: z.string(),
    problems: [],
  });
  const http = await httpFixture([handle(renameThing, () => rename('late', async () => undefined))]);
  const [firstWritten, releaseFirst] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = rename('first', async () => {
    firstWritten.resolve();
    await releaseFirst.promise;
  });
  await firstWritten.promise;
  const response = await http.ask('POST', '/api/v1/things');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('Too many requests are changing the same resource'),
  });
  releaseFirst.resolve();
  expect(await first).toBe('first');
  expect((await http.ask('POST', '/api/v1/things')).status).toBe(200);
  await http.listening.close(0);
  await fixture.stop();
});
