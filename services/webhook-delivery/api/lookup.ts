/** Finds the webhook that a request names. */
import { NotFound } from '#libs/contract';
import type { Actor } from '#libs/store';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';

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
