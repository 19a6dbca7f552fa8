/** A mongod that is becoming a primary closes connections: whoever waits for it goes on. */
import { expect, test } from '@jest/globals';
import { testMongo } from '../../testing/servers.ts';
import { tcpProxy } from '../../testing/tcp-proxy.ts';
import { becomePrimary } from './replica-set.ts';

test('a connection that is closed meanwhile is opened again', async () => {
  const mongo = await testMongo();
  const proxy = await tcpProxy(new URL('/', mongo.uri).href);
  try {
    // what the driver itself asks is of no session
    proxy.cutAfter(Buffer.from('lsid'), 3);
    await becomePrimary(proxy.url, new URL(mongo.uri).host, AbortSignal.timeout(20_000));
    expect(proxy.remainingCuts()).toBe(0);
  } finally {
    await proxy.close();
    await mongo.stop();
  }
});
