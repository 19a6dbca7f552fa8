/** What webhook delivery lets its neighbours read. */
import { z } from 'zod';
import { id, view } from '#libs/contract';

/** Which events an organization's webhooks subscribe to; addresses and secrets are not in it. */
export const webhookSubscriptions = view({
  name: 'webhook_subscriptions',
  collection: 'webhook_configs',
  scope: 'organization_id',
  row: z.object({ organization_id: id, is_active: z.boolean(), event_types: z.array(z.string()) }),
});
