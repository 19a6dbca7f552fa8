/** Stores the publish quota in MongoDB: a ledger of every publish, and a counter for limited plans. */
import { newId } from '#libs/contract';
import { type Actor, type Store, sharedReadPerKey, type Transaction } from '#libs/store';
import { nextRenewal, subscriptionTerms, type Terms, toPeriod } from '../../identity/contract.ts';
import { PublishQuotaExhausted } from '../contract.ts';
import { publishLedger, publishUsage } from './collections.ts';

/** Consumes one publish event in the transaction of a publish. Throws `PublishQuotaExhausted`. */
export type ConsumeQuota = (documentId: string, tx: Transaction) => Promise<void>;

/** Creates the store of the publish quota. */
export function quota(store: Store) {
  const rows = { ledger: store.collection(publishLedger), usage: store.rows(publishUsage) };
  const terms = store.read(subscriptionTerms);
  // requests of the same organization and turn of the event loop share a read
  const findTerms = sharedReadPerKey({
    toId: (organizationId: string) => organizationId,
    readOne: (organizationId) => terms.in(organizationId).one({}),
  });

  return {
    /**
     * Prepares to consume one publish event of the period that contains `at`, outside of any transaction.
     * Creates the counter of a limited plan from the ledger. Returns the function that consumes the event in
     * the transaction of the publish.
     */
    async prepare({ organization_id }: Actor, at: Date): Promise<ConsumeQuota> {
      const currentTerms = (await findTerms(organization_id)) ?? {
        publish_limit: 0,
        renews: 'never' as const,
        terms_version: 0,
      };
      if (currentTerms.publish_limit !== null) await createCounter(organization_id, currentTerms, at);
      return async (documentId, { session }) => {
        if (currentTerms.publish_limit !== null) {
          const available = {
            _id: counterId(organization_id, currentTerms, at),
            used: { $lt: currentTerms.publish_limit },
          };
          const { matchedCount } = await rows.usage.updateOne(available, { $inc: { used: 1 } }, { session });
          if (matchedCount === 0) throw quotaExhausted(currentTerms, at);
        }
        const month = at.toISOString().slice(0, 7);
        const row = { _id: newId(), organization_id, document_id: documentId, month, published_at: at };
        await rows.ledger.insertOne(row, { session });
      };
    },
  };

  async function createCounter(organization_id: string, currentTerms: Terms, at: Date): Promise<void> {
    const _id = counterId(organization_id, currentTerms, at);
    if (await rows.usage.exists({ _id })) return;
    const filter =
      currentTerms.renews === 'monthly'
        ? { organization_id, month: toPeriod(currentTerms, at) }
        : { organization_id };
    const used = await rows.ledger.countDocuments(filter);
    await rows.usage.updateOne({ _id }, { $setOnInsert: { used } }, { upsert: true });
  }
}

export type Quota = ReturnType<typeof quota>;

function counterId(organizationId: string, terms: Terms, at: Date): string {
  return `${organizationId}:${toPeriod(terms, at)}:${terms.terms_version}`;
}

function quotaExhausted(terms: Terms, at: Date) {
  const renews_at = nextRenewal(terms, at);
  const when = renews_at
    ? `they renew at ${renews_at}`
    : 'they do not renew; ask the operator for a larger plan';
  return PublishQuotaExhausted(
    `The ${terms.publish_limit} publish events of your plan are used up; ${when}.`,
    {
      extra: { publish_limit: terms.publish_limit, renews_at },
    },
  );
}
