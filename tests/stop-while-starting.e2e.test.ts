/** Tests that a process can be stopped before it is ready: the first process of a container has no default handlers. */
import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { freePorts, until } from '#libs/testing';
import { localSettings } from './five-processes.ts';
import { runScript } from './programs.ts';

test('SIGTERM ends a process that still waits for MongoDB', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  const [mongoPort, port, managementPort] = await freePorts(3);
  await new Promise<void>((resolve) => silent.listen(mongoPort, '127.0.0.1', resolve));
  const { process: child, exited } = runScript('../services/all.ts', [], {
    ...localSettings,
    MONGODB_URI: `mongodb://127.0.0.1:${mongoPort}/pds?directConnection=true`,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    PORT: `${port}`,
    MANAGEMENT_PORT: `${managementPort}`,
  });
  try {
    await until('the management port', () =>
      fetch(`http://127.0.0.1:${managementPort}/healthz`).catch(() => undefined),
    );
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  } finally {
    child.kill('SIGKILL');
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});
