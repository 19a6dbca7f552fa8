/** Lists, shows and replays dead-lettered events: `npm run dead-letters -- list | show … | replay …`. */
import { Secret } from '#libs/contract';
import { type DeadLetters, openDeadLetters, toTopology } from '#libs/events';
import { createLog, formatError, securityLog, systemAuditEvent } from '#libs/service';
import { contracts } from '../services/contracts.ts';

const usage = `Lists, shows and replays events that a service could not handle after all attempts.

  AMQP_URL=… npm run dead-letters -- list                         all dead letters, by queue
  AMQP_URL=… npm run dead-letters -- show webhook-delivery <id>   one dead letter with its content
  AMQP_URL=… npm run dead-letters -- replay webhook-delivery <id>…
  AMQP_URL=… npm run dead-letters -- replay webhook-delivery --all

Only the service of the queue handles a replayed event. An event that it has already handled has no effect.
Set AMQP_PREFIX as for the services. Without RabbitMQ there are no dead letters, because the outbox retries.`;

const queues = [...toTopology(contracts).keys()];
const [command, queue = '', ...words] = process.argv.slice(2);
const isKnown =
  command === 'list' || ((command === 'show' || command === 'replay') && queues.includes(queue));
const { AMQP_URL, AMQP_PREFIX = '' } = process.env;

if (!AMQP_URL || !isKnown || (command !== 'list' && words.length === 0)) {
  console.error(`${usage}\n\nQueues: ${queues.join(', ')}`);
  process.exitCode = 1;
} else {
  await runCommand(new Secret(AMQP_URL)).catch((error: unknown) => {
    console.error(formatError(error));
    process.exitCode = 1;
  });
}

async function runCommand(url: Secret): Promise<void> {
  const deadLetters = await openDeadLetters({ url, prefix: AMQP_PREFIX });
  try {
    if (command === 'list') await list(deadLetters);
    else if (command === 'show') await show(deadLetters);
    else await replay(deadLetters);
  } finally {
    await deadLetters.close();
  }
}

async function list(letters: DeadLetters): Promise<void> {
  for (const name of queues) {
    const { ready, retry, dead } = await letters.depth(name);
    console.log(`${name.padEnd(20)}${dead} dead, ${retry} to retry, ${ready} ready`);
    for (const { id, type, occurred_at, organization_id } of await letters.list(name))
      console.log(`  ${id}  ${type.padEnd(24)} ${occurred_at}  organization ${organization_id}`);
  }
}

async function show(letters: DeadLetters): Promise<void> {
  const found = (await letters.list(queue)).filter(({ id }) => words.includes(id));
  if (found.length === 0) throw new Error(`The queue ${queue} has no dead letter with this id.`);
  for (const letter of found) console.log(JSON.stringify(letter, null, 2));
}

async function replay(letters: DeadLetters): Promise<void> {
  const ids = words.includes('--all') ? undefined : new Set(words);
  const replayed = await letters.replay(queue, ids);
  const audit = securityLog(createLog({ level: 'info', format: 'json' }));
  for (const id of replayed) audit(systemAuditEvent('dead_letter.replay', 'operator', { queue, id }));
  console.log(`Dead letters of ${queue} replayed: ${replayed.length}`);
  const missing = [...(ids ?? [])].filter((id) => !replayed.includes(id));
  if (missing.length > 0) throw new Error(`Not found: ${missing.join(', ')}`);
}
