/** The embedded MongoDB for local runs and tests; loaded only when it is asked for. */
import type { Mongod, MongodOptions } from './embedded/mongod.ts';

/** Starts a real mongod as a one-member replica set on loopback; errors as `embedded/mongod.ts` says. */
export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const embedded = await import('./embedded/mongod.ts');
  return embedded.startMongod(options);
}
