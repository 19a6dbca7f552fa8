/** Creates or updates the MongoDB users and roles of the services, and the collections that these may not create. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Secret } from '#libs/contract';
import { indexCommand, openUserAdmin, roleCommand, userCommand } from '#libs/store';
import { contracts } from '../../services/contracts.ts';
import { appendOnlyCollections } from '../../services/services.ts';
import { type Command, WrongUsage } from './command.ts';

const usage = `Creates or updates a MongoDB user for each service. The user may write the collections of the service and
read the views in its contract. Creates the append-only collections and their indexes, which the users may not create.

  npm run admin -- mongo-users --uri mongodb://admin:…@host/process_documents?replicaSet=…
  npm run admin -- mongo-users --print process_documents      prints the commands for mongosh instead

The path of the URI (or of MONGODB_ADMIN_URI) is the database of the services. Passwords come from IDENTITY_PASSWORD,
DOCUMENTS_PASSWORD and so on. Without one, the command generates a password for a new user and prints it once. An empty
one is an error.`;

export const command: Command = {
  usage,
  async run(args) {
    const { values } = parseArgs({ args, options: { uri: { type: 'string' }, print: { type: 'string' } } });
    const uri = values.uri ?? process.env.MONGODB_ADMIN_URI;
    if (values.print !== undefined) console.log(formatCommands(values.print));
    else if (uri) await upsertUsers(new Secret(uri));
    else throw new WrongUsage('--uri or --print is required.');
  },
};

async function upsertUsers(uri: Secret): Promise<void> {
  const empty = contracts.map(({ name }) => getPasswordKey(name)).filter((key) => process.env[key] === '');
  if (empty.length > 0) throw new Error(`Empty passwords: ${empty.join(', ')}. No user was changed.`);
  const users = await openUserAdmin(uri);
  try {
    // first, so that no service starts without them
    await users.createCollections(appendOnlyCollections);
    for (const contract of contracts) {
      const { name } = contract;
      const configured = process.env[getPasswordKey(name)];
      const password = configured || randomBytes(24).toString('base64url');
      const isNew = await users.upsert(contract, (anew) =>
        anew || configured ? new Secret(password) : undefined,
      );
      const passwordText = configured
        ? 'password from the environment'
        : isNew
          ? `password ${password}`
          : 'password unchanged';
      console.log(`${name.padEnd(16)} ${isNew ? 'created' : 'up to date'}, ${passwordText}`);
    }
    console.log(`\nMONGODB_URI of a service: mongodb://<service>:<password>@<host>/${users.database}`);
  } finally {
    await users.close();
  }
}

function getPasswordKey(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
}

/** Returns the same changes as commands for mongosh, which asks for each password. */
function formatCommands(database: string): string {
  const run = (command: object) => `db.runCommand(${JSON.stringify(command)});`;
  const lines = contracts.flatMap((contract) => [
    `// ${contract.name}; if it exists already, use updateRole and updateUser instead of createRole and createUser`,
    run(roleCommand(contract, database, true)),
    run(userCommand(contract, '', true)).replace('"pwd":""', '"pwd":passwordPrompt()'),
  ]);
  const indexes = appendOnlyCollections.map((collection) => run(indexCommand(collection)));
  return [`use ${database}`, '// the append-only collections', ...indexes, ...lines].join('\n');
}
