/**
 * Resolves host names without blocking Node's thread pool, which file access and password hashing also use.
 */
import { lookup, Resolver } from 'node:dns/promises';
import { isLoopbackName } from '../rules/target.ts';
import type { Resolve } from './ssrf-guard.ts';

/** A DNS client that queries name servers. */
export type DnsClient = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** Looks up a name with the operating system, including its hosts file. Blocks one thread until it ends. */
export type SystemLookup = (hostname: string) => Promise<readonly string[]>;

/** The caller of a lookup gives up after this time, so a queued lookup is no longer needed. */
const maxWaitMs = 3_000;

const createDnsClient = () => new Resolver({ timeout: 1_000, tries: 2 });
const lookUp: SystemLookup = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Creates a resolver. It queries name servers over its own sockets, any number of names in parallel. Names
 * unknown to them are looked up with the operating system (hosts file, search domains), one at a time, so
 * that at most one thread is blocked.
 */
export function createResolver({
  servers = createDnsClient(),
  system = lookUp,
}: {
  servers?: DnsClient;
  system?: SystemLookup;
} = {}): Resolve {
  let last: Promise<unknown> = Promise.resolve();

  return async (hostname) => {
    if (isLoopbackName(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const queuedAt = performance.now();
    const result = last.then(() => {
      if (performance.now() - queuedAt > maxWaitMs)
        throw new Error(`The lookup of ${hostname} waited too long`);
      return system(hostname);
    });
    last = result.catch(() => undefined);
    return result;
  };
}
