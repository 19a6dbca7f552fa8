/** The publish quota in MongoDB: a ledger of every publish, and a counter for limited plans only. */
import { newId } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import { nextRenewal, subscriptionTerms, type Terms, toPeriod } from '../../identity/contract.ts';
import { PublishQuotaExhausted } from '../contract.ts';
import { publishLedger, publishUsage } from './collections.ts';

/** Uses up one publish event for a document, within the transaction that publishes it. */
export type ConsumeQuota = (documentId: string, tx: Transaction) => Promise<void>;

/** Counts publish events. */
export function quota(store: Store) {
  const rows = { ledger: store.rows(publishLedger), usage: store.rows(publishUsage) };
  const terms = store.read(subscriptionTerms);

  return {
    /**
     * Makes ready to use up one publish event of the period that holds `at`, outside of any transaction: the counter of
     * a limited plan is seeded from the ledger. Gives what uses it up within the transaction of the publish;
     * `PublishQuotaExhausted`.
     */
    async prepare({ organization_id }: Actor, at: Date): Promise<ConsumeQuota> {
      const own = (await terms.in(organization_id).one({})) ?? {
        publish_limit: 0,
        renews: 'never' as const,
        terms_version: 0,
      };
      if (own.publish_limit !== null) await makeCounter(organization_id, own, at);
      return async (documentId, { session }) => {
        if (own.publish_limit !== null) {
          const free = { _id: counterId(organization_id, own, at), used: { $lt: own.publish_limit } };
          const { matchedCount } = await rows.usage.updateOne(free, { $inc: { used: 1 } }, { session });
          if (matchedCount === 0) throw exhausted(own, at);
        }
        const month = at.toISOString().slice(0, 7);
        const row = { _id: newId(), organization_id, document_id: documentId, month, published_at: at };
        await rows.ledger.insertMany([row], { session, lean: true });
      };
    },
  };

  async function makeCounter(organization_id: string, own: Terms, at: Date): Promise<void> {
    const _id = counterId(organization_id, own, at);
    if (await rows.usage.exists({ _id })) return;
    const counted =
      own.renews === 'monthly' ? { organization_id, month: toPeriod(own, at) } : { organization_id };
    const used = await rows.ledger.countDocuments(counted);
    await rows.usage.updateOne({ _id }, { $setOnInsert: { used } }, { upsert: true });
  }
}

export type Quota = ReturnType<typeof quota>;

function counterId(organizationId: string, own: Terms, at: Date): string {
  return `${organizationId}:${toPeriod(own, at)}:${own.terms_version}`;
}

function exhausted(own: Terms, at: Date) {
  const renews_at = nextRenewal(own, at);
  const when = renews_at ? `they renew at ${renews_at}` : 'they do not renew; choose a larger plan';
  return PublishQuotaExhausted(`The ${own.publish_limit} publish events of your plan are used up; ${when}.`, {
    extra: { publish_limit: own.publish_limit, renews_at },
  });
}
