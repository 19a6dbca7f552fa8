/** Makes the services' MongoDB users and roles, or brings them up to date: `npm run mongo-users -- --uri <of an administrator>`. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Secret } from '#libs/contract';
import { formatError } from '#libs/service';
import { openUserAdmin, roleCommand, userCommand } from '#libs/store';
import { contracts } from '../services/contracts.ts';

const usage = `Makes a MongoDB user for each service, who may write what its service owns and read the views it names.

  npm run mongo-users -- --uri mongodb://admin:…@host/process_documents?replicaSet=…
  npm run mongo-users -- --print process_documents      the commands for mongosh, to do it by hand

The address (also as MONGODB_ADMIN_URI) names the services' database in its path. Passwords are taken from IDENTITY_PASSWORD,
DOCUMENTS_PASSWORD and so on; for a new user without one a password is made and printed, once.`;

const options = { uri: { type: 'string' }, print: { type: 'string' }, help: { type: 'boolean' } } as const;

try {
  const { values } = parseArgs({ options });
  const uri = values.uri ?? process.env.MONGODB_ADMIN_URI;
  if (values.help) console.log(usage);
  else if (values.print !== undefined) console.log(commands(values.print));
  else if (uri) await keepUsers(new Secret(uri));
  else throw new Error(usage);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

async function keepUsers(uri: Secret): Promise<void> {
  const users = await openUserAdmin(uri);
  try {
    for (const contract of contracts) {
      const { name } = contract;
      const given = process.env[`${name.toUpperCase().replaceAll('-', '_')}_PASSWORD`];
      const made = given || randomBytes(24).toString('base64url');
      const isNew = await users.upsert(contract, (anew) => (anew || given ? new Secret(made) : undefined));
      const password = given ? 'the password given' : isNew ? `password ${made}` : 'its password as it was';
      console.log(`${name.padEnd(16)} ${isNew ? 'made' : 'up to date'}, ${password}`);
    }
    console.log(`\nMONGODB_URI of a service: mongodb://<service>:<password>@<host>/${users.database}`);
  } finally {
    await users.close();
  }
}

/** The same as commands for mongosh, which asks for each password. */
function commands(database: string): string {
  const run = (command: object) => `db.runCommand(${JSON.stringify(command)});`;
  const lines = contracts.flatMap((contract) => [
    `// ${contract.name}; where it exists already: updateRole and updateUser instead of createRole and createUser`,
    run(roleCommand(contract, database, true)),
    run(userCommand(contract, '', true)).replace('"pwd":""', '"pwd":passwordPrompt()'),
  ]);
  return [`use ${database}`, ...lines].join('\n');
}
