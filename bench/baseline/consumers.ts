/** The consumers of the baseline's events: each handles an event once, in a transaction with its id in an inbox. */
import { type Client, type Db, type Row, withTransaction } from './handler.ts';
import type { BaselineEvent } from './relay.ts';

type Session = ReturnType<Client['startSession']>;

const leaseMs = 10_000;

/** Creates the functions that store an event and that run after its commit. */
export function eventConsumers(client: Client, db: Db) {
  // separate collections, so that the services never consume events of the baseline
  const outbox = db.collection<Row>('baseline_outbox');
  const inbox = db.collection<Row>('baseline_inbox');

  return {
    /** Adds an event to the outbox in the transaction of its change. */
    async addEvent(event: BaselineEvent, session: Session): Promise<void> {
      const at = new Date();
      const row = { _id: event.id, type: event.type, event: JSON.stringify(event), created_at: at };
      const lease = { pending: true, lease_until: new Date(at.getTime() + leaseMs), lease_by: 'baseline' };
      await outbox.insertOne({ ...row, ...lease, failures: 0 }, { session });
    },

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
