/** The MongoDB users of the services: a role and a user for each, in the application's own database. */
import mongoose from 'mongoose';
import type { Contract, Secret } from '#libs/contract';
import { toGrants } from './grants.ts';

type Db = mongoose.mongo.Db;

/** A command of MongoDB, as `db.runCommand` takes it. */
export type Command = Record<string, unknown>;

/** A database, opened by someone who may make users. */
export interface UserAdmin {
  /** The name of the database that the services share. */
  database: string;
  /** Makes the service's role and user, or brings the role up to date; a password that is given is set. Gives whether the user is new. */
  upsert(contract: Contract, password: (isNew: boolean) => Secret | undefined): Promise<boolean>;
  close(): Promise<void>;
}

/** Connects as an administrator; the address names the services' database in its path. Rejects after five seconds without MongoDB. */
export async function openUserAdmin(uri: Secret): Promise<UserAdmin> {
  const text = uri.reveal();
  // no URL for `new URL()`: it may name several members, each with its port
  if (!/^[^/]+:\/\/[^/]+\/[^?]/.test(text))
    throw new Error('The address must name the database, as in mongodb://host/process_documents');
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
    close: () => client.close(),
  };
}

/** The command that makes a service's role, or sets its privileges to exactly its grants. */
export function roleCommand(contract: Contract, db: string, isNew: boolean): Command {
  const privileges = toGrants(contract).map(({ collection, actions }) => ({
    resource: { db, collection: collection },
    actions,
  }));
  const role = getRoleName(contract.name);
  return { ...(isNew ? { createRole: role } : { updateRole: role }), privileges, roles: [] };
}

/** The command that makes a service's user, or sets its role and, if one is given, its password. */
export function userCommand({ name }: Contract, pwd: string | undefined, isNew: boolean): Command {
  const user = isNew ? { createUser: name } : { updateUser: name };
  return { ...user, ...(pwd !== undefined && { pwd }), roles: [getRoleName(name)] };
}

function getRoleName(service: string): string {
  return `${service}-service`;
}

async function has(db: Db, command: Command, what: 'roles' | 'users'): Promise<boolean> {
  const found: unknown = (await db.command(command))[what];
  return Array.isArray(found) && found.length > 0;
}
