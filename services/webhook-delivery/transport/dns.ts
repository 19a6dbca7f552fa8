/** Resolving: names to addresses, without the few threads that file access and password hashes need too. */
import { lookup, Resolver } from 'node:dns/promises';
import type { Resolve } from './ssrf-guard.ts';
import { isLoopbackName } from '../rules/target.ts';

/** Asks name servers. */
export type NameServers = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** Asks the system, which also knows its own hosts; it keeps a thread busy for as long as it takes. */
export type System = (hostname: string) => Promise<readonly string[]>;

/** Whoever asked has given up by then. */
const patienceMs = 3_000;

const nameServers = () => new Resolver({ timeout: 1_000, tries: 2 });
const system: System = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Resolves names by asking name servers over sockets of its own, any number at once; names that they do not know are
 * left to the system (its hosts file, its search domains), one after the other, so that no more than one thread waits.
 */
export function resolving({
  servers = nameServers(),
  system: bySystem = system,
}: {
  servers?: NameServers;
  system?: System;
} = {}): Resolve {
  let last: Promise<unknown> = Promise.resolve();

  return async (hostname) => {
    if (isLoopbackName(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const askedAt = performance.now();
    const turn = last.then(() => {
      if (performance.now() - askedAt > patienceMs) throw new Error(`Nobody waits for ${hostname} any more`);
      return bySystem(hostname);
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}
