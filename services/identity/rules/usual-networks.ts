/** The usual networks of a user: those from which the user logged in lately. They are stored as hashes. */
import { createHash } from 'node:crypto';
import { toNetwork } from './rate-limit.ts';

/** A network from which a user logged in. */
export interface UsualNetwork {
  /** Hash of the user's id and the network, so that the database holds no address in plain text. */
  hash: string;
  /** When it was recorded last: at most `recordIntervalMs` before the last login. */
  at: Date;
}

/** What the rules need of a user. */
export interface UserWithNetworks {
  _id: string;
  usual_networks?: readonly UsualNetwork[];
}

/** How long a network stays usual after a login, ms. */
const usualForMs = 90 * 86_400_000;

/** How often a login from the same network is recorded again, ms. */
const recordIntervalMs = 86_400_000;

/** How many networks are stored for each user. The oldest ones are dropped. */
const maxNetworks = 10;

/** Whether the user logged in from the network of this address lately. False for an unknown user. */
export function isUsualNetwork(user: UserWithNetworks | undefined, address: string, at: Date): boolean {
  return user !== undefined && find(user, address, at) !== undefined;
}

/**
 * The usual networks of a user after a login from this address. Undefined if nothing has to be recorded, because
 * the last login from there was recorded lately.
 */
export function addUsualNetwork(
  user: UserWithNetworks,
  address: string,
  at: Date,
): UsualNetwork[] | undefined {
  const known = find(user, address, at);
  if (known && known.at.getTime() > at.getTime() - recordIntervalMs) return undefined;
  const hash = toHash(user, address);
  const others = (user.usual_networks ?? []).filter((one) => one.hash !== hash && isRecent(one, at));
  return [{ hash, at }, ...others].slice(0, maxNetworks);
}

function find(user: UserWithNetworks, address: string, at: Date): UsualNetwork | undefined {
  const hash = toHash(user, address);
  return user.usual_networks?.find((one) => one.hash === hash && isRecent(one, at));
}

function isRecent(network: UsualNetwork, at: Date): boolean {
  return network.at.getTime() > at.getTime() - usualForMs;
}

function toHash({ _id }: UserWithNetworks, address: string): string {
  return createHash('sha256')
    .update(`${_id} ${toNetwork(address)}`)
    .digest('base64url');
}
