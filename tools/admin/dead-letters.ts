/** Lists, shows and replays dead-lettered events. */
import { Secret } from '#libs/contract';
import { type DeadLetters, openDeadLetters, toTopology } from '#libs/events';
import { createLog, securityLog, systemAuditEvent } from '#libs/service';
import { contracts } from '../../services/contracts.ts';
import { type Command, WrongUsage } from './command.ts';

const queues = [...toTopology(contracts).keys()];

const usage = `Lists, shows and replays events that a service could not handle after all attempts.

  AMQP_URL=… npm run admin -- dead-letters list                         all dead letters, by queue
  AMQP_URL=… npm run admin -- dead-letters show webhook-delivery <id>   one dead letter with its content
  AMQP_URL=… npm run admin -- dead-letters replay webhook-delivery <id>…
  AMQP_URL=… npm run admin -- dead-letters replay webhook-delivery --all

Only the service of the queue handles a replayed event. An event that it has already handled has no effect.
Set AMQP_PREFIX as for the services. Without RabbitMQ there are no dead letters, because the outbox retries.

Queues: ${queues.join(', ')}`;

export const command: Command = {
  usage,
  async run([action, queue = '', ...words]) {
    const { AMQP_URL, AMQP_PREFIX = '' } = process.env;
    if (!AMQP_URL) throw new WrongUsage('AMQP_URL is required.');
    const isList = action === 'list';
    if (!isList && action !== 'show' && action !== 'replay') throw new WrongUsage();
    if (!isList && (!queues.includes(queue) || words.length === 0)) throw new WrongUsage();
    const deadLetters = await openDeadLetters({ url: new Secret(AMQP_URL), prefix: AMQP_PREFIX });
    try {
      if (isList) await list(deadLetters);
      else if (action === 'show') await show(deadLetters, queue, words);
      else await replay(deadLetters, queue, words);
    } finally {
      await deadLetters.close();
    }
  },
};

async function list(letters: DeadLetters): Promise<void> {
  for (const name of queues) {
    const { ready, retry, dead } = await letters.depth(name);
    console.log(`${name.padEnd(20)}${dead} dead, ${retry} to retry, ${ready} ready`);
    const { events, isComplete } = await letters.list(name);
    for (const { id, type, occurred_at, organization_id } of events)
      console.log(`  ${id}  ${type.padEnd(24)} ${occurred_at}  organization ${organization_id}`);
    if (!isComplete) console.log('  and more: only the first 1,000 dead letters are listed');
  }
}

async function show(letters: DeadLetters, queue: string, words: string[]): Promise<void> {
  const { events, isComplete } = await letters.list(queue);
  const found = events.filter(({ id }) => words.includes(id));
  if (found.length === 0) {
    const searched = isComplete ? '' : ' among the first 1,000. Only these can be shown';
    throw new Error(`The queue ${queue} has no dead letter with this id${searched}.`);
  }
  for (const letter of found) console.log(JSON.stringify(letter, null, 2));
}

async function replay(letters: DeadLetters, queue: string, words: string[]): Promise<void> {
  const ids = words.includes('--all') ? undefined : new Set(words);
  const audit = securityLog(createLog({ level: 'info', format: 'json' }));
  const replayed: string[] = [];
  try {
    await letters.replay(queue, ids, (id) => {
      replayed.push(id);
      // at once, because the replay may fail later
      audit(systemAuditEvent('dead_letter.replay', 'operator', { queue, id }));
    });
  } finally {
    console.log(`Dead letters of ${queue} replayed: ${replayed.length}`);
  }
  const missing = [...(ids ?? [])].filter((id) => !replayed.includes(id));
  if (missing.length > 0) throw new Error(`Not found: ${missing.join(', ')}`);
}
