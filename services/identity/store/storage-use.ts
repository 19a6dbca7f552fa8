/** Measures what an organization stores, in all services. */
import type { Store } from '#libs/store';
import { assetUsage, documentStates, documentUsage } from '../../documents/views.ts';
import { templateUsage } from '../../export/views.ts';
import { webhookSubscriptions } from '../../webhook-delivery/views.ts';
import { getLimit, type StorageLimitName, type StorageLimits } from '../rules/storage-limits.ts';
import type { ApiKeyRepository } from './api-keys.ts';
import type { InvitationRepository } from './invitations.ts';

/** What is used of each limit; null if it was not measured. */
export type StorageUse = Record<StorageLimitName, number | null>;

/** Creates the function that measures what an organization stores at a time. */
export function createStorageMeter(
  store: Pick<Store, 'read'>,
  { apiKeys, invitations }: { apiKeys: ApiKeyRepository; invitations: InvitationRepository },
) {
  const states = store.read(documentStates);
  const documents = store.read(documentUsage);
  const assets = store.read(assetUsage);
  const templates = store.read(templateUsage);
  const webhooks = store.read(webhookSubscriptions);

  return async (
    organization_id: string,
    limits: StorageLimits | undefined,
    at: Date,
  ): Promise<StorageUse> => {
    const actor = { organization_id, user_id: null };
    const [stored, asset, template, api_keys, pending_invitations, webhookCount] = await Promise.all([
      measureDocuments(organization_id, limits),
      assets.in(organization_id).one({}),
      templates.in(organization_id).one({}),
      apiKeys.count(actor),
      invitations.count(actor, at),
      webhooks.in(organization_id).count({}),
    ]);
    const bytes = { asset_bytes: asset?.bytes ?? 0, template_bytes: template?.bytes ?? 0 };
    return { ...stored, ...bytes, api_keys, pending_invitations, webhooks: webhookCount };
  };

  /** Adds up all documents only if the plan limits them: an unlimited organization may have very many. */
  async function measureDocuments(
    organizationId: string,
    limits: StorageLimits | undefined,
  ): Promise<Pick<StorageUse, 'documents' | 'document_bytes'>> {
    if (getLimit(limits, 'documents') === null && getLimit(limits, 'document_bytes') === null)
      return { documents: await states.in(organizationId).count({}), document_bytes: null };
    const usage = await documents.in(organizationId).one({});
    return { documents: usage?.documents ?? 0, document_bytes: usage?.bytes ?? 0 };
  }
}

export type StorageMeter = ReturnType<typeof createStorageMeter>;
