/** Limits wrong passwords of public links. The counters are those of this process. */
import type { RateLimitPolicy } from '#libs/contract';
import { createBoundedCache, toNetworks } from '#libs/http';

/** The limit of a link and an address: an IPv4 address or a /64 of IPv6. A /56 has twice, a /48 four times as many. */
export const addressPolicy = { name: 'link-passwords-of-address', quota: 10, windowSeconds: 15 * 60 };

/** The limit of a link, from all addresses together. */
export const linkPolicy = { name: 'link-passwords', quota: 100, windowSeconds: 60 * 60 };

/** Above this number, the counters that were not used for the longest time are dropped. */
const maxCounters = 100_000;

/** A limit that is used up, and the whole seconds until it allows another attempt. */
export interface UsedUpLimit {
  policy: RateLimitPolicy;
  waitSeconds: number;
}

/** Takes back the count of an attempt. */
export type Refund = () => void;

/** The limits of wrong passwords. */
export interface PasswordAttempts {
  /**
   * Counts an attempt before its password is checked, so that parallel requests cannot exceed the limits. Counts
   * nothing if a limit is used up, and returns that limit.
   */
  consume(link: string, address: string): Refund | UsedUpLimit;
}

/** Creates the limits; they hold for any period of their length. `now` is in milliseconds. */
export function passwordAttempts({ now }: { now: () => number }): PasswordAttempts {
  /** The times of the counted attempts, oldest first. */
  const counters = createBoundedCache<string, readonly number[]>(maxCounters);
  return {
    consume(link, address) {
      const at = now();
      const counted = toCounters(link, address).map((counter) => {
        const from = at - counter.policy.windowSeconds * 1000;
        return { ...counter, times: (counters.get(counter.key) ?? []).filter((time) => time > from) };
      });
      const usedUp = counted.flatMap(({ policy, max, times }) => {
        const free = times.at(-max);
        if (free === undefined) return [];
        return [{ policy, waitSeconds: Math.ceil((free - at) / 1000) + policy.windowSeconds }];
      });
      const [longest] = usedUp.sort((one, other) => other.waitSeconds - one.waitSeconds);
      if (longest) return longest;
      for (const { key, times } of counted) counters.set(key, [...times, at]);
      return () => {
        for (const { key } of counted) counters.set(key, withoutOne(counters.get(key) ?? [], at));
      };
    },
  };
}

function toCounters(link: string, address: string) {
  const networks = toNetworks(address).map(({ network, factor }) => {
    return { key: `${link} ${network}`, policy: addressPolicy, max: addressPolicy.quota * factor };
  });
  return [...networks, { key: link, policy: linkPolicy, max: linkPolicy.quota }];
}

function withoutOne(times: readonly number[], time: number): readonly number[] {
  const at = times.indexOf(time);
  return at === -1 ? times : times.toSpliced(at, 1);
}
