/** Views that other services may read. */
import { z } from 'zod';
import { id, view } from '#libs/contract';

/** Event types that an organization's webhooks subscribe to, without URLs and secrets. */
export const webhookSubscriptions = view({
  name: 'webhook_subscriptions',
  collection: 'webhook_configs',
  scope: 'organization_id',
  row: z.object({ organization_id: id, is_active: z.boolean(), event_types: z.array(z.string()) }),
});

/** The organizations that have listeners. A listener has ended after `expires_at`. */
export const liveWebhookListeners = view({
  name: 'live_webhook_listeners',
  collection: 'webhook_listeners',
  scope: 'organization_id',
  row: z.object({ organization_id: id, expires_at: z.date() }),
});
