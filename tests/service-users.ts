/** A MongoDB that asks everybody who they are, with the users of the five services in a database of their own. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { openUsers } from '#libs/store';
import { securedMongo } from '#libs/testing';
import { contracts } from '../services/contracts.ts';

/** Addresses of one database for those who use it. */
export interface ServiceUsers {
  /** The administrator's address, with the services' database in its path. */
  administrator: string;
  /** The address with a service's own user. */
  getUri(service: string): string;
  stop(): Promise<void>;
}

/** Starts the MongoDB and makes the users, as `npm run mongo-users` does. */
export async function serviceUsers(): Promise<ServiceUsers> {
  const mongo = await securedMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = '/process_documents';
  const passwords = new Map(contracts.map(({ name }) => [name, randomBytes(12).toString('hex')]));
  try {
    const users = await openUsers(new Secret(uri.href));
    const keep = async () => {
      for (const one of contracts) await users.upsert(one, () => new Secret(passwords.get(one.name) ?? ''));
    };
    await keep().finally(users.close);
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
