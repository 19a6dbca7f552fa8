/** A process that hears events and is killed by one of them: `node poison-victim.ts <url> <prefix> <file>`. */
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
  onError: (what, error) => process.stderr.write(`${what}: ${error}\n`),
});
await bus.consume(
  'alpha',
  async ({ id, data }) => {
    // long enough for the neighbours to be in hand
    await pause(20);
    if (typeof data === 'object' && data !== null && 'kills' in data) process.kill(process.pid, 'SIGKILL');
    appendFileSync(file, `${id}\n`);
  },
  { prefetch: 64 },
);
