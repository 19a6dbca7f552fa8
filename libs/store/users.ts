/**
 * Creates the services' MongoDB users, a role and a user for each, in the application's database, and the collections
 * that these may not create.
 */
import mongoose from 'mongoose';
import type { Contract, Secret } from '#libs/contract';
import { toGrants } from './grants.ts';
import { type MigratedCollection, migrate } from './migration.ts';

type Db = mongoose.mongo.Db;

/** A MongoDB command, as `db.runCommand` takes it. */
export type Command = Record<string, unknown>;

/** A database connection that may create users. */
export interface UserAdmin {
  /** The name of the database that the services share. */
  database: string;
  /**
   * Creates the service's role and user, or updates them. Sets the password that `password` returns, if it
   * returns one. Returns whether the user is new.
   */
  upsert(contract: Contract, password: (isNew: boolean) => Secret | undefined): Promise<boolean>;
  /** Creates collections and their indexes that the users of the services may not create. */
  createCollections(collections: readonly MigratedCollection[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects as an administrator. The path of `uri` names the services' database. Rejects if MongoDB cannot be
 * reached within five seconds.
 */
export async function openUserAdmin(uri: Secret): Promise<UserAdmin> {
  const text = uri.reveal();
  // `new URL()` rejects addresses with several hosts
  if (!/^[^/]+:\/\/[^/]+\/[^?]/.test(text))
    throw new Error('The MongoDB address must name the database, as in mongodb://host/process_documents');
  const client = new mongoose.mongo.MongoClient(text, {
    serverSelectionTimeoutMS: 5_000,
    ...(!/[?&]authSource=/i.test(text) && { authSource: 'admin' }),
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db();
  return {
    database: db.databaseName,
    async upsert(contract, password) {
      const { name } = contract;
      const isNewRole = !(await has(db, { rolesInfo: getRoleName(name) }, 'roles'));
      await db.command(roleCommand(contract, db.databaseName, isNewRole));
      const isNew = !(await has(db, { usersInfo: name }, 'users'));
      await db.command(userCommand(contract, password(isNew)?.reveal(), isNew));
      return isNew;
    },
    createCollections: (collections) =>
      migrate(db, {
        ...{ collections, views: [] },
        onError(message, error) {
          throw new Error(message, { cause: error });
        },
      }),
    close: () => client.close(),
  };
}

/** Builds the command that creates a service's role, or sets its privileges to exactly its grants. */
export function roleCommand(contract: Contract, db: string, isNew: boolean): Command {
  const privileges = toGrants(contract).map(({ collection, actions }) => ({
    resource: { db, collection },
    actions,
  }));
  const role = getRoleName(contract.name);
  return { ...(isNew ? { createRole: role } : { updateRole: role }), privileges, roles: [] };
}

/**
 * Builds the command that creates a service's user, or sets its role and, if `pwd` is given, its password.
 */
export function userCommand({ name }: Contract, pwd: string | undefined, isNew: boolean): Command {
  const user = isNew ? { createUser: name } : { updateUser: name };
  return { ...user, ...(pwd !== undefined && { pwd }), roles: [getRoleName(name)] };
}

function getRoleName(service: string): string {
  return `${service}-service`;
}

async function has(db: Db, command: Command, key: 'roles' | 'users'): Promise<boolean> {
  const found: unknown = (await db.command(command))[key];
  return Array.isArray(found) && found.length > 0;
}
