/** The commands that store and remove credentials. */
import { hostname } from 'node:os';
import { type Client, createClient } from '../client.ts';
import { ConnectionError, ProblemError } from '../errors.ts';
import { command } from './command.ts';
import type { Context } from './context.ts';
import {
  assertCredentialsWritable,
  checkUrl,
  getCredentialsFile,
  readStoredCredentials,
  removeStoredCredentials,
  type StoredCredentials,
  writeStoredCredentials,
} from './credentials.ts';
import { CommandError, exitCodes, UsageError } from './exit-codes.ts';
import { ask, readSecret } from './prompt.ts';

/** Who logs in. */
interface Identity {
  email: string | undefined;
  organization: string | undefined;
}

interface LoginOptions extends Identity {
  role: 'member' | 'admin' | undefined;
}

export const login = command({
  name: 'login',
  summary: 'Store the address of the service and an API key',
  details: `Without --email, asks for an API key. With --email, asks for the password and creates an API key for this computer.
Reads the key or the password from stdin if that is no terminal: pds login --url URL <key.txt
Only you can read the file with the key. PDS_URL and PDS_KEY take precedence over it.`,
  options: {
    email: { type: 'string', value: 'EMAIL', description: 'Log in with this email and a password' },
    organization: { type: 'string', value: 'SLUG', description: 'The organization, if you are in several' },
    role: {
      type: 'string',
      choices: ['member', 'admin'],
      description: 'The role of the new API key. Default: member',
    },
  },
  async run(context, { options }) {
    const given = context.url ?? context.env.PDS_URL ?? (await askForUrl(context));
    const url = checkUrl(given);
    // else a new key would be valid, and nobody would have it
    await assertCredentialsWritable(context.env);
    const credentials = options.email ? await createKey(context, url, options) : await readKey(context, url);
    // a new key is valid, and would be lost if the next request failed
    let file = credentials.key_id === undefined ? undefined : await replaceStored(context, credentials);
    const { user, organization, member } = await createClient({
      ...credentials,
      signal: context.signal,
    }).getMe();
    file ??= await replaceStored(context, credentials);
    const result = { url, organization: organization.slug, email: user.email, role: member.role, file };
    context.show(
      result,
      () => `Logged in to ${url} as ${user.email} (${organization.name}). The key is stored in ${file}.`,
    );
    return undefined;
  },
});

export const logout = command({
  name: 'logout',
  summary: 'Remove the stored API key, and revoke it if `pds login` has created it',
  async run(context) {
    const stored = await readStoredCredentials(context.env);
    if (!stored) {
      context.show({ was_logged_in: false }, () => 'You are not logged in.');
      return undefined;
    }
    const { key_id } = stored;
    if (key_id !== undefined)
      await revoke(createClient({ ...stored, signal: context.signal }), key_id).catch((error: unknown) => {
        if (!(error instanceof ConnectionError)) throw error;
        const file = getCredentialsFile(context.env);
        throw new CommandError(
          `${error.message}\nThe API key of ${stored.url} is not revoked, and you are still logged in. Try again, or delete ${file}.`,
          exitCodes.unavailable,
          { cause: error },
        );
      });
    await removeStoredCredentials(context.env);
    context.show({ was_logged_in: true, is_key_revoked: key_id !== undefined }, () =>
      key_id === undefined
        ? `Logged out. The API key is still valid: revoke it with DELETE /api/v1/api-keys/{key_id} if nothing else uses it.`
        : 'Logged out. The API key is revoked.',
    );
    return undefined;
  },
});

/** Stores credentials, and revokes the key that they replace if `pds login` has created it. Returns the file. */
async function replaceStored(context: Context, credentials: StoredCredentials): Promise<string> {
  // a damaged file is replaced too
  const old = await readStoredCredentials(context.env).catch(() => undefined);
  const file = await writeStoredCredentials(context.env, credentials);
  if (old?.key_id === undefined || old.url !== credentials.url || old.key === credentials.key) return file;
  const client = createClient({ ...old, timeoutMs: 5_000, retries: 0 });
  await revoke(client, old.key_id).catch((error: Error) => {
    context.note(`Could not revoke the API key ${old.key_id}, which was stored before: ${error.message}`);
  });
  return file;
}

async function revoke(client: Client, key_id: string): Promise<void> {
  await client.deleteApiKey({ key_id }).catch((error: unknown) => {
    // a revoked key is what the user wants
    if (!(error instanceof ProblemError && (error.status === 401 || error.status === 404))) throw error;
  });
}

async function askForUrl(context: Context): Promise<string> {
  if (!context.stdin.isTTY) throw new UsageError('--url is missing, and PDS_URL is not set.');
  return ask(context, 'Address of the service: ');
}

async function readKey(context: Context, url: string): Promise<StoredCredentials> {
  return { url, key: (await readSecret(context, 'API key')).trim() };
}

/** Logs in with the password, runs `work` as this person, and ends the session. */
async function withSession<T>(
  context: Context,
  identity: Identity,
  work: (client: Client) => Promise<T>,
  url?: string,
): Promise<T> {
  const address = url ?? checkUrl(context.url ?? context.env.PDS_URL ?? (await context.credentials()).url);
  const password = await readSecret(context, 'Password');
  const session = await startSession(context, address, identity, password);
  const client = createClient({ url: address, key: session.access_token, signal: context.signal });
  try {
    return await work(client);
  } finally {
    await endSession(context, address, session.refresh_token);
  }
}

/** Ends a session. A failure is only noted: the result of the command is more important. */
async function endSession(context: Context, url: string, refresh_token: string): Promise<void> {
  // the usual client ends with the signal
  const client = createClient({ url, timeoutMs: 5_000, retries: 0 });
  await client.logOut({ body: { refresh_token } }).catch((error: Error) => {
    context.note(`Could not log out: ${error.message}\nThe access token expires within 15 minutes.`);
  });
}

/** The options of a command that people run in person, not with an API key. */
export const personOptions = {
  email: { type: 'string', value: 'EMAIL', description: 'Log in with this email and your password' },
  organization: { type: 'string', value: 'SLUG', description: 'The organization, if you are in several' },
} as const;

/** Runs `work` with the client of a person: with --email, that of a session that ends with the command. */
export async function asPerson<T>(
  context: Context,
  { email, organization }: { email: string | undefined; organization: string | undefined },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return email === undefined
    ? work(await context.client())
    : withSession(context, { email, organization }, work);
}

/** Creates a key for this computer. */
function createKey(context: Context, url: string, options: LoginOptions): Promise<StoredCredentials> {
  const create = async (client: Client) => {
    const { role = 'member' } = options;
    const name = `pds on ${hostname()}`.slice(0, 100);
    const { id, key } = await client.createApiKey({ body: { name, role } });
    if (key !== null) return { url, key, key_id: id };
    // a repeated request gets the stored response, which does not contain the key
    await client.deleteApiKey({ key_id: id });
    throw new CommandError('The connection broke while the key was created. Try again.');
  };
  return withSession(context, options, create, url);
}

async function startSession(context: Context, url: string, identity: Identity, password: string) {
  const { email = '', organization } = identity;
  try {
    const body = { email, password, ...(organization && { organization_slug: organization }) };
    return await createClient({ url, signal: context.signal }).logIn({ body });
  } catch (error) {
    if (!(error instanceof ProblemError && error.code === 'organization_required')) throw error;
    const { organizations = [] } = error.members as { organizations?: { slug: string; name: string }[] };
    const list = organizations.map(({ slug, name }) => `  ${slug}  ${name}`).join('\n');
    throw new CommandError(
      `You are in several organizations. Choose one with --organization SLUG:\n${list}`,
      2,
      {
        cause: error,
      },
    );
  }
}
