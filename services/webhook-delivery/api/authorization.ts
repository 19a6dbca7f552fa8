/** Loads a webhook that the caller may change. */
import { NotFound } from '#libs/contract';
import type { Actor } from '#libs/store';
import { type Requester, requireCreatorOrAdmin } from '../rules/permission.ts';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';

/**
 * Returns a webhook; throws `NotFound`, or `Forbidden` if the actor may not perform the action. `action` completes
 * the message "Only the creator of the webhook or an admin may …".
 */
export async function getChangeable(
  configs: Pick<Configs, 'find'>,
  actor: Actor & Requester,
  id: string,
  action: string,
): Promise<ConfigRow> {
  return assertAllowed(actor, await getConfig(configs, actor, id), action);
}

/** Returns a webhook; throws `NotFound`. */
export async function getConfig(
  configs: Pick<Configs, 'find'>,
  actor: Actor,
  id: string,
): Promise<ConfigRow> {
  const config = await configs.find(actor, id);
  if (!config) throw NotFound();
  return config;
}

/** Returns the webhook, or throws `Forbidden` if the actor may not perform the action on it. */
export function assertAllowed(actor: Requester, config: ConfigRow, action: string): ConfigRow {
  const problem = requireCreatorOrAdmin(actor, action)(config);
  if (problem) throw problem;
  return config;
}
