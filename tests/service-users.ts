/** Starts a MongoDB with authentication and creates the users of the five services. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { openUserAdmin } from '#libs/store';
import { securedMongo } from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { appendOnlyCollections } from '../services/services.ts';

/** MongoDB URIs of one database, by user. */
export interface ServiceUsers {
  /** URI of the administrator. Its path is the database of the services. */
  administrator: string;
  /** URI with the user of a service. */
  getUri(service: string): string;
  stop(): Promise<void>;
}

/** Starts MongoDB and creates the users as `npm run admin -- mongo-users` does. */
export async function serviceUsers(): Promise<ServiceUsers> {
  const mongo = await securedMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = '/process_documents';
  const passwords = new Map(contracts.map(({ name }) => [name, randomBytes(12).toString('hex')]));
  try {
    const users = await openUserAdmin(new Secret(uri.href));
    const upsertAll = async () => {
      await users.createCollections(appendOnlyCollections);
      for (const one of contracts) await users.upsert(one, () => new Secret(passwords.get(one.name) ?? ''));
    };
    await upsertAll().finally(users.close);
  } catch (error) {
    await mongo.stop();
    throw error;
  }
  return {
    administrator: uri.href,
    getUri(service) {
      const own = new URL(uri);
      own.username = service;
      own.password = passwords.get(service) ?? '';
      own.searchParams.delete('authSource');
      return own.href;
    },
    stop: mongo.stop,
  };
}
