/** The consumers of the baseline's events: each handles an event once, in a transaction with its id in an inbox. */
import { type Client, type Db, type Row, withTransaction } from './handler.ts';
import type { BaselineEvent } from './relay.ts';

type Session = ReturnType<Client['startSession']>;

/** Creates the functions that run after the commit of an event. */
export function eventConsumers(client: Client, db: Db) {
  // separate collections, so that the services never consume events of the baseline
  const outbox = db.collection<Row>('baseline_outbox');
  const inbox = db.collection<Row>('baseline_inbox');

  return {
    /** Lets `count` consumers handle an event. `work` gets the number of its consumer, from 0. */
    async consumeBy(
      count: number,
      event: Pick<BaselineEvent, 'id'>,
      work: (session: Session, consumer: number) => Promise<void>,
    ): Promise<void> {
      const consumeOnce = (consumer: number) =>
        withTransaction(client, async (session) => {
          await inbox.insertOne({ _id: `${consumer}/${event.id}`, handled_at: new Date() }, { session });
          await work(session, consumer);
        });
      await Promise.all(Array.from({ length: count }, (_, consumer) => consumeOnce(consumer)));
    },

    /** Marks an event as published, after all consumers have handled it. */
    async markPublished({ id }: Pick<BaselineEvent, 'id'>): Promise<void> {
      const published = {
        $set: { published_at: new Date() },
        $unset: { pending: 1, lease_until: 1, lease_by: 1 },
      };
      await outbox.updateOne({ _id: id }, published);
    },
  };
}
