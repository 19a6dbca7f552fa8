/** Dead letters for operators: counted, looked at and sent once more to the service that gave them up, over a connection of its own. */
import type { Secret } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { answerMs, openConnection } from './connection.ts';
import { countMessages, peekDeadLetters } from './dead-letters.ts';
import { within } from './reconnecting.ts';
import { prefixedNames } from './topology-setup.ts';

/** What operators may do with dead letters. */
export interface DeadLetters {
  /** What is in a queue and behind it. */
  depth(queue: string): Promise<Depth>;
  /** The first thousand dead letters of a queue, oldest first; they stay where they are. */
  list(queue: string): ReturnType<typeof peekDeadLetters>;
  /**
   * Puts dead letters back into their queue, all that are there now or those with these ids; gives the ids of what was put
   * back. Each is gone from the dead letters once the broker has it in its queue: who dies in between has it in both, and the inbox folds that.
   */
  replay(queue: string, ids?: ReadonlySet<string>): Promise<string[]>;
  close(): Promise<void>;
}

/** Connects to a broker on which everything is declared already; rejects when it cannot be reached. */
export async function openDeadLetters({
  url,
  prefix,
}: {
  url: Secret;
  prefix: string;
}): Promise<DeadLetters> {
  const names = prefixedNames(prefix);
  const opened = await openConnection({
    url,
    name: 'pds dead letters',
    prepare: async () => undefined,
    onError: () => undefined,
    signal: new AbortController().signal,
  });
  const { model } = opened.value;
  return {
    depth: (queue) => countMessages(model, names.queue(queue), names.retry(queue), names.dead(queue)),
    list: (queue) => peekDeadLetters(model, names.dead(queue)),
    async replay(queue, ids) {
      const channel = await model.createConfirmChannel();
      channel.on('error', () => {});
      const replayed: string[] = [];
      // those that come back meanwhile are not taken again
      const { messageCount } = await channel.checkQueue(names.dead(queue));
      for (let count = 0; count < messageCount; count += 1) {
        const message = await channel.get(names.dead(queue));
        if (!message) break;
        const { messageId, type, contentType } = message.properties;
        // the others go back when the channel closes
        if (ids && !ids.has(String(messageId))) continue;
        // without the headers that say how it died
        const options = { persistent: true, messageId, type, contentType };
        channel.sendToQueue(names.queue(queue), message.content, options);
        await within(answerMs, names.queue(queue), channel.waitForConfirms());
        channel.ack(message);
        replayed.push(String(messageId));
      }
      await channel.close();
      return replayed;
    },
    close: () => opened.close(),
  };
}
