/** A consumer process that kills itself on a poison event: `node poison-victim.ts <url> <prefix> <file>`. */
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Secret } from '#libs/contract';
import { amqpBus } from '#libs/events';

const [url = '', prefix = '', file = ''] = process.argv.slice(2);
const bus = amqpBus({
  url: new Secret(url),
  prefix,
  topology: new Map([['alpha', ['thing.gone']]]),
  retryQueueDelayMs: 200,
  onError: (message, error) => process.stderr.write(`${message}: ${error}\n`),
});
await bus.consume(
  'alpha',
  async ({ id, data }) => {
    // long enough for the neighbouring events to be in flight
    await pause(20);
    if (typeof data === 'object' && data !== null && 'kills' in data) process.kill(process.pid, 'SIGKILL');
    appendFileSync(file, `${id}\n`);
  },
  { prefetch: 64 },
);
