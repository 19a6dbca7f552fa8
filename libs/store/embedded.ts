/** The embedded MongoDB for local runs and tests, loaded on first use. */
import type { Mongod, MongodOptions } from './embedded/mongod.ts';

/** Starts a mongod as a one-member replica set on loopback. Errors: see `embedded/mongod.ts`. */
export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const embedded = await import('./embedded/mongod.ts');
  return embedded.startMongod(options);
}
