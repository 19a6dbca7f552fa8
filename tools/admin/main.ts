/**
 * The commands of operators: `npm run admin -- <command>`, or in a container `node tools/admin/main.ts
 * <command>`.
 */
import { formatError } from '#libs/service';
import { type Command, WrongUsage } from './command.ts';

interface Entry {
  description: string;
  load(): Promise<{ command: Command }>;
}

const entries: Record<string, Entry> = {
  'mongo-users': {
    description: 'creates or updates the MongoDB users of the services',
    load: () => import('./mongo-users.ts'),
  },
  'replica-set': {
    description: 'initiates a MongoDB replica set of one member and creates its administrator',
    load: () => import('./replica-set.ts'),
  },
  'dead-letters': {
    description: 'lists, shows and replays events that a service could not handle',
    load: () => import('./dead-letters.ts'),
  },
  're-encrypt': {
    description: 'encrypts all secrets with the first key of ENCRYPTION_KEYS',
    load: () => import('./re-encrypt.ts'),
  },
  verify: {
    description: 'checks the invariants of the database',
    load: () => import('./verify.ts'),
  },
  identity: {
    description: 'rotates the signing key of access tokens',
    load: () => import('./identity.ts'),
  },
  'compose-secrets': {
    description: 'creates the missing secrets of compose.yaml',
    load: () => import('./compose-secrets.ts'),
  },
  'cluster-secrets': {
    description: 'creates the missing Secrets of a development cluster (only in a clone, not in the image)',
    load: () =>
      import('./cluster-secrets.ts').catch((cause: unknown) => {
        throw new Error('cluster-secrets is not in the image: run it in a clone of the project.', { cause });
      }),
  },
};

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = await runCommand().catch((error: unknown) => {
  console.error(formatError(error));
  return 1;
});

/** Runs the command in the arguments. Returns the exit code. */
async function runCommand(): Promise<number> {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (!entry) {
    const isHelp = name === '--help' || name === '-h';
    if (isHelp) console.log(formatHelp());
    else console.error(`${name ? `Unknown command: ${name}\n\n` : ''}${formatHelp()}`);
    return isHelp ? 0 : 1;
  }
  const { command } = await entry.load();
  if (args.includes('--help') || args.includes('-h')) {
    console.log(command.usage);
    return 0;
  }
  try {
    await command.run(args);
    return 0;
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    console.error(error.message ? `${error.message}\n\n${command.usage}` : command.usage);
    return 1;
  }
}

function formatHelp(): string {
  const lines = Object.entries(entries).map(([key, { description }]) => `  ${key.padEnd(17)}${description}`);
  return `Usage: npm run admin -- <command> [arguments]\n\n${lines.join('\n')}\n\nnpm run admin -- <command> --help explains a command.`;
}
