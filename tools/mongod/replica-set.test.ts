/**
 * Tests that waiting for a primary survives closed connections: a mongod closes them when its state changes.
 */
import { expect, test } from '@jest/globals';
import { testMongo } from '../../libs/testing/servers.ts';
import { tcpProxy } from '../../libs/testing/tcp-proxy.ts';
import { slowness } from '../../libs/testing/until.ts';
import { becomePrimary } from './replica-set.ts';

test('becomePrimary reconnects if its connection is closed', async () => {
  const mongo = await testMongo();
  const proxy = await tcpProxy(new URL('/', mongo.uri).href);
  try {
    // the driver's own commands have no session
    proxy.cutAfter(Buffer.from('lsid'), 3);
    await becomePrimary(proxy.url, new URL(mongo.uri).host, AbortSignal.timeout(60_000 * slowness));
    expect(proxy.remainingCuts()).toBe(0);
  } finally {
    await proxy.close();
    await mongo.stop();
  }
});
