/** The public interface of webhook delivery: operations, events, problems and views. */
import { contract } from '#libs/contract';
import { documentsContract } from '../documents/contract.ts';
import { ApiKeyUsed, identityContract, principalViews } from '../identity/contract.ts';
import { sharingContract } from '../sharing/contract.ts';
import * as deliveries from './contract/deliveries.ts';
import * as listeners from './contract/listeners.ts';
import * as webhooks from './contract/webhooks.ts';
import {
  WebhookCreated,
  WebhookDisabled,
  WebhookExhausted,
  WebhookRemoved,
  WebhookSecretRotated,
  WebhookUpdated,
} from './events.ts';
import { liveWebhookListeners, webhookSubscriptions } from './views.ts';

export * from './contract/deliveries.ts';
export * from './contract/listeners.ts';
export * from './contract/webhooks.ts';
export * from './events.ts';
export * from './problems.ts';
export {
  type DeliveryStatus,
  eventType,
  ListenedEvent,
  NewWebhook,
  NewWebhookListener,
  RotatedWebhook,
  Webhook,
  WebhookAttempt,
  WebhookEvent,
  WebhookEventDetails,
} from './shapes.ts';
export * from './views.ts';

export const webhookDeliveryContract = contract({
  name: 'webhook-delivery',
  title: 'Webhooks',
  description: 'Sends events to other systems. Deliveries are signed, retried and logged.',
  operations: [webhooks, deliveries, listeners].flatMap((file) => Object.values(file)),
  publishes: [
    ...[WebhookCreated, WebhookUpdated, WebhookRemoved, WebhookSecretRotated],
    ...[WebhookExhausted, WebhookDisabled, ApiKeyUsed],
  ],
  consumes: [documentsContract, sharingContract, identityContract]
    .flatMap(({ publishes }) => publishes)
    .filter(({ subscribable }) => subscribable),
  owns: [
    ...['webhook_configs', 'webhook_events', 'webhook_deliveries'],
    ...['webhook_listeners', 'webhook_listener_events'],
  ],
  views: [webhookSubscriptions, liveWebhookListeners],
  reads: [...principalViews],
});
