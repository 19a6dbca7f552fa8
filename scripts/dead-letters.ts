/** Dead letters, for whoever is on call: `npm run dead-letters -- list | show <queue> <id> | replay <queue> <id>… | replay <queue> --all`. */
import { Secret } from '#libs/contract';
import { type DeadLetters, openDeadLetters, toTopology } from '#libs/events';
import { createLog, formatError, securityLog, systemAuditEvent } from '#libs/service';
import { contracts } from '../services/contracts.ts';

const usage = `Events that a service gave up after all their tries.

  AMQP_URL=… npm run dead-letters -- list                         what there is, queue by queue
  AMQP_URL=… npm run dead-letters -- show webhook-delivery <id>   one of them, whole
  AMQP_URL=… npm run dead-letters -- replay webhook-delivery <id>…
  AMQP_URL=… npm run dead-letters -- replay webhook-delivery --all

Sent once more, an event is handled by that service alone, from the beginning; what it has handled before does nothing.
AMQP_PREFIX counts as it does for the services. Without RabbitMQ nothing is dead: the outbox tries again by itself.`;

const queues = [...toTopology(contracts).keys()];
const [command, queue = '', ...words] = process.argv.slice(2);
const isKnown =
  command === 'list' || ((command === 'show' || command === 'replay') && queues.includes(queue));
const { AMQP_URL, AMQP_PREFIX = '' } = process.env;

if (!AMQP_URL || !isKnown || (command !== 'list' && words.length === 0)) {
  console.error(`${usage}\n\nQueues: ${queues.join(', ')}`);
  process.exitCode = 1;
} else {
  await asked(new Secret(AMQP_URL)).catch((error: unknown) => {
    console.error(formatError(error));
    process.exitCode = 1;
  });
}

async function asked(url: Secret): Promise<void> {
  const letters = await openDeadLetters({ url, prefix: AMQP_PREFIX });
  try {
    if (command === 'list') await list(letters);
    else if (command === 'show') await show(letters);
    else await replay(letters);
  } finally {
    await letters.close();
  }
}

async function list(letters: DeadLetters): Promise<void> {
  for (const name of queues) {
    const { ready, retry, dead } = await letters.depth(name);
    console.log(`${name.padEnd(20)}${dead} dead, ${retry} set aside, ${ready} waiting`);
    for (const { id, type, occurred_at, organization_id } of await letters.list(name))
      console.log(`  ${id}  ${type.padEnd(24)} ${occurred_at}  organization ${organization_id}`);
  }
}

async function show(letters: DeadLetters): Promise<void> {
  const found = (await letters.list(queue)).filter(({ id }) => words.includes(id));
  if (found.length === 0) throw new Error(`${queue} has no such dead letter.`);
  for (const one of found) console.log(JSON.stringify(one, null, 2));
}

async function replay(letters: DeadLetters): Promise<void> {
  const ids = words.includes('--all') ? undefined : new Set(words);
  const replayed = await letters.replay(queue, ids);
  const audited = securityLog(createLog({ level: 'info', format: 'json' }));
  for (const id of replayed) audited(systemAuditEvent('dead_letter.replay', 'operator', { queue, id }));
  console.log(`${replayed.length} of ${queue} are sent once more.`);
  const missing = [...(ids ?? [])].filter((id) => !replayed.includes(id));
  if (missing.length > 0) throw new Error(`Not there: ${missing.join(', ')}`);
}
