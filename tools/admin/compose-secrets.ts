/** Creates the secrets of compose.yaml and the files from which its containers read them. */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { contracts } from '../../services/contracts.ts';
import { type Command, WrongUsage } from './command.ts';

const usage = `Creates the secrets of compose.yaml below a folder, with one folder for each container that reads them. Existing
secrets stay unchanged. \`docker compose up\` runs this command.

  npm run admin -- compose-secrets FOLDER`;

export const command: Command = {
  usage,
  async run([folder]) {
    if (!folder || folder.startsWith('-')) throw new WrongUsage('FOLDER is required.');
    const created = await writeComposeSecrets(folder);
    console.log(created.length === 0 ? 'All secrets exist already.' : `Created: ${created.join(', ')}`);
  },
};

/** The users of the containers, as numbers: the services, and the servers of MongoDB and RabbitMQ. */
const serviceUser = 65_532;
const serverUser = 999;

const passwordKey = (service: string) => `${service.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/** Creates the value of each secret. */
const generators: Readonly<Record<string, () => string>> = {
  ENCRYPTION_KEYS: () => randomBytes(32).toString('base64'),
  OPS_TOKEN: createPassword,
  MONGODB_KEY: () => randomBytes(500).toString('base64'),
  ADMIN_PASSWORD: createPassword,
  RABBITMQ_PASSWORD: createPassword,
  ...Object.fromEntries(contracts.map(({ name }) => [passwordKey(name), createPassword])),
};

/**
 * Creates the missing secrets in `all/secrets.json` and writes the files that are made from them. Returns the names of
 * the created secrets.
 */
export async function writeComposeSecrets(folder: string): Promise<string[]> {
  const file = join(folder, 'all', 'secrets.json');
  const existing = z.record(z.string(), z.string()).parse(JSON.parse(await readIfExists(file)));
  const missing = Object.entries(generators).filter(([name]) => !existing[name]);
  const secrets = { ...existing, ...Object.fromEntries(missing.map(([name, create]) => [name, create()])) };
  // stored before they are used: after a crash, the next run writes the same files
  if (missing.length > 0) await writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`, 0);
  for (const [path, { text, user }] of Object.entries(toFiles(secrets)))
    await writeAtomically(join(folder, path), text, user);
  return missing.map(([name]) => name);
}

type Secrets = Readonly<Record<string, string>>;

/** Returns the files of all containers by their paths, each with the user that may read it. */
function toFiles(secrets: Secrets): Record<string, { text: string; user: number }> {
  const { MONGODB_KEY = '', ADMIN_PASSWORD = '', RABBITMQ_PASSWORD, ENCRYPTION_KEYS, OPS_TOKEN } = secrets;
  const toUri = (user: string, password: string, more = '') =>
    `mongodb://${user}:${password}@mongodb:27017/process_documents?replicaSet=rs0${more}`;
  const services = contracts.map(({ name }) => {
    const settings = {
      MONGODB_URI: toUri(name, secrets[passwordKey(name)] ?? ''),
      AMQP_URL: `amqp://services:${RABBITMQ_PASSWORD}@rabbitmq:5672`,
      ENCRYPTION_KEYS,
      ...(name === 'identity' && { OPS_TOKEN }),
    };
    return [`${name}/settings.env`, { text: toEnvFile(settings), user: serviceUser }];
  });
  const database = {
    ADMIN_PASSWORD,
    MONGODB_ADMIN_URI: toUri('admin', ADMIN_PASSWORD, '&authSource=admin'),
    ...Object.fromEntries(contracts.map(({ name }) => [passwordKey(name), secrets[passwordKey(name)]])),
  };
  const rabbitmq = `default_user = services\ndefault_pass = ${RABBITMQ_PASSWORD}\n`;
  return {
    'mongodb/keyfile': { text: MONGODB_KEY, user: serverUser },
    'rabbitmq/rabbitmq.conf': { text: rabbitmq, user: serverUser },
    'database/settings.env': { text: toEnvFile(database), user: serviceUser },
    ...Object.fromEntries(services),
  };
}

function toEnvFile(settings: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function readIfExists(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
}

/** Writes a file that only `user` can read. A crash leaves either the old or the new file. */
async function writeAtomically(path: string, text: string, user: number): Promise<void> {
  const draft = `${path}.new`;
  await mkdir(join(path, '..'), { recursive: true });
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  // without root there is only one user, who can read all files
  if (process.getuid?.() === 0) await chown(draft, user, user);
  await rename(draft, path);
}

function createPassword(): string {
  return randomBytes(24).toString('base64url');
}
