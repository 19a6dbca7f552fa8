/** Reports failing webhooks: publishes failure notifications and disables webhooks. */
import type { Store } from '#libs/store';
import { WebhookDisabled, WebhookExhausted } from '../events.ts';
import { shouldDisable, shouldNotify } from '../rules/endpoint-health.ts';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';
import type { Failures } from '../store/failures.ts';
import type { Receiver } from '../store/receivers.ts';

/** Maximum number of failures that one event counts. */
const maxCounted = 1_000;

/** Dependencies of the reports. */
interface FailingWebhooksDeps {
  store: Pick<Store, 'transact'>;
  configs: Pick<Configs, 'deactivate'>;
  failures: Failures;
  now: () => Date;
  onError(message: string, error: unknown): void;
}

/** Creates the reports of failing webhooks. Several replicas may use them at the same time. */
export function createFailingWebhooks({ store, configs, failures, now, onError }: FailingWebhooksDeps) {
  return {
    /** Disables a webhook whose receiver is gone, unless it has another URL now, and publishes `webhook.disabled`. */
    async disableGone(organization_id: string, { id, url }: Pick<Receiver, 'id' | 'url'>): Promise<void> {
      const actor = { organization_id, user_id: null };
      await store.transact(actor, async (tx) => {
        const row = await configs.deactivate({ ...actor, tx }, id, { url });
        if (row) tx.publish(WebhookDisabled, { webhook: toReported(row), reason: 'gone' });
      });
    },

    /**
     * Publishes one notification per webhook with failures that have not been reported yet. If all deliveries of a
     * webhook have failed for days, disables the webhook instead. A webhook for which this fails does not stop the
     * others; its failures stay unreported until the next call.
     */
    async notifyFailures(isStopped: () => boolean = () => false): Promise<void> {
      const ids = await failures.findUnreported();
      if (ids.length === 0) return;
      const active = await failures.findActive(ids);
      const activeIds = new Set(active.map(({ _id }) => _id));
      // no notification: a user disabled or deleted the webhook, or `webhook.disabled` reported the 410
      await failures.discard(ids.filter((id) => !activeIds.has(id)));
      for (const row of active) {
        if (isStopped()) return;
        if (!shouldNotify(row, now())) continue;
        await notify(row).catch((error: unknown) =>
          onError(`Could not report the failures of webhook ${row._id}`, error),
        );
      }
    },
  };

  async function notify({ _id, organization_id }: ConfigRow): Promise<void> {
    const actor = { organization_id, user_id: null };
    await store.transact(actor, async (tx) => {
      const at = now();
      const [row] = await failures.findActive([_id], tx);
      if (!row || !shouldNotify(row, at)) return;
      const failed = await failures.takeUnreported(_id, maxCounted, tx);
      const [last] = failed;
      if (!last) return;
      const webhook = toReported(row);
      if (shouldDisable(await failures.getHealth(row, tx), at)) {
        await configs.deactivate({ ...actor, tx }, _id);
        tx.publish(WebhookDisabled, { webhook, reason: 'failing' });
        return;
      }
      // if the limit was reached, the next call reports the next thousand without waiting a minute
      if (failed.length < maxCounted) await failures.setNotified(_id, at, tx);
      const { event_type, error } = last;
      tx.publish(WebhookExhausted, {
        webhook,
        failed: failed.length,
        last: { entry_id: last._id, event_type, error },
      });
    });
  }
}

export type FailingWebhooks = ReturnType<typeof createFailingWebhooks>;

function toReported({ _id, name, created_by }: ConfigRow) {
  return { id: _id, name, created_by };
}
