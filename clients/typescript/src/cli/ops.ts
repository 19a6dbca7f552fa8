/** The commands for operators of the service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConnectionError, ProblemError } from '../errors.ts';
import { buildRequest, type OperationFacts } from '../requests.ts';
import { send } from '../send.ts';
import { command } from './command.ts';
import type { Context } from './context.ts';
import { checkUrl } from './credentials.ts';
import { CommandError, exitCodes } from './exit-codes.ts';

const opsUrl = {
  'ops-url': {
    type: 'string',
    value: 'URL',
    description: 'The management port of the identity service. Default: $PDS_OPS_URL',
  },
} as const;
const overHttp = 'Calls the management port with the token in OPS_TOKEN.';

const createOrganization = command({
  name: 'ops organizations create',
  summary: 'Create an organization without members',
  details: `${overHttp} Then invite its first admin with \`pds ops users invite\`.`,
  arguments: [{ name: 'name', description: 'Name of the organization' }],
  options: { ...opsUrl, slug: { type: 'string', value: 'SLUG', description: 'Its part of public links' } },
  async run(context, { arguments: { name }, options: { slug, ...options } }) {
    const body = { name, ...(slug !== undefined && { slug }) };
    const organization = await callOps<{ id: string }>(context, options, 'POST', '/ops/organizations', {
      body,
    });
    context.show(organization, () => organization.id);
    return undefined;
  },
});

const setPlan = command({
  name: 'ops organizations plan',
  summary: 'Set the plan of an organization',
  details: overHttp,
  arguments: [
    { name: 'organization', description: 'Id of the organization' },
    { name: 'plan', description: 'The plan', choices: ['trial', 'team', 'scale'] },
  ],
  options: opsUrl,
  async run(context, { arguments: { organization, plan }, options }) {
    const path = '/ops/organizations/{organization}/subscription';
    const input = { organization, body: { plan } };
    const subscription = await callOps<{ plan: string }>(context, options, 'PUT', path, input);
    context.show(subscription, () => `The plan is ${subscription.plan}.`);
    return undefined;
  },
});

const invite = command({
  name: 'ops users invite',
  summary: 'Invite a person to any organization',
  details: `${overHttp} Prints the token of the invitation, which is shown only once.`,
  arguments: [
    { name: 'organization', description: 'Id of the organization' },
    { name: 'email', description: 'Email of the person' },
  ],
  options: {
    ...opsUrl,
    role: { type: 'string', choices: ['member', 'admin'], description: 'The role. Default: admin' },
  },
  async run(context, { arguments: { organization, email }, options: { role, ...options } }) {
    const path = '/ops/organizations/{organization}/invitations';
    const input = { organization, body: { email, ...(role && { role }) } };
    const invitation = await callOps<NewToken & { invite_url: string }>(
      context,
      options,
      'POST',
      path,
      input,
    );
    context.show(invitation, () => formatToken(invitation, invitation.invite_url));
    return undefined;
  },
});

const resetPassword = command({
  name: 'ops users reset-password',
  summary: 'Create a token with which a user sets a new password',
  details: `${overHttp} Prints the token, which is shown only once.`,
  arguments: [{ name: 'email', description: 'Email of the user' }],
  options: {
    ...opsUrl,
    organization: {
      type: 'string',
      value: 'SLUG',
      description: 'For an account that lost its email to another one',
    },
  },
  async run(context, { arguments: { email }, options: { organization, ...options } }) {
    const body = { email, ...(organization !== undefined && { organization_slug: organization }) };
    const reset = await callOps<NewToken & { reset_url: string }>(
      context,
      options,
      'POST',
      '/ops/password-resets',
      {
        body,
      },
    );
    context.show(reset, () => formatToken(reset, reset.reset_url));
    return undefined;
  },
});

/** The commands that work on the database or the broker, with the same arguments as `npm run admin`. */
const adminCommands = [
  {
    name: 'dead-letters',
    admin: ['dead-letters'],
    summary: 'List, show and replay events that a service could not handle',
  },
  {
    name: 're-encrypt',
    admin: ['re-encrypt'],
    summary: 'Encrypt all secrets with the first key of ENCRYPTION_KEYS',
  },
  {
    name: 'rotate-keys',
    admin: ['identity', 'rotate-keys'],
    summary: 'Rotate the signing key of access tokens',
  },
  { name: 'verify', admin: ['verify'], summary: 'Check the invariants of the database' },
].map(({ name, admin, summary }) =>
  command({
    name: `ops ${name}`,
    summary,
    details: `Runs \`npm run admin -- ${admin.join(' ')}\` with your arguments, in a clone of the project. It works on the
database or the broker directly: set MONGODB_URI, ENCRYPTION_KEYS and AMQP_URL as for the services.`,
    arguments: [
      {
        name: 'words',
        description: 'Arguments, see `--help` after them',
        isOptional: true,
        isRepeated: true,
      },
    ],
    takesAnything: true,
    run: (context, { arguments: { words } }) => runAdmin(context, [...admin, ...words]),
  }),
);

/** The commands for operators. */
export const opsCommands = [createOrganization, setPlan, invite, resetPassword, ...adminCommands];

interface NewToken {
  token: string;
  expires_at: string;
}

function formatToken({ token, expires_at }: NewToken, url: string): string {
  return `Token: ${token}\nURL: ${url}\nValid until ${expires_at}. Pass it on through a channel that you trust.`;
}

/** Calls an operation of the management port. These operations are not in the OpenAPI document. */
async function callOps<Result>(
  context: Context,
  options: { 'ops-url': string | undefined },
  method: string,
  path: string,
  input: Record<string, unknown>,
): Promise<Result> {
  const { OPS_TOKEN, PDS_OPS_URL } = context.env;
  const url = options['ops-url'] ?? PDS_OPS_URL;
  if (!url)
    throw new CommandError(
      'Set PDS_OPS_URL to the management port of identity, such as http://127.0.0.1:9464.',
      exitCodes.usage,
    );
  if (!OPS_TOKEN)
    throw new CommandError('Set OPS_TOKEN to the token of the service.', exitCodes.notAuthorized);
  const facts: OperationFacts = { method, path, body: 'json', returns: 'json' };
  const request = buildRequest(checkUrl(url), facts, input, { key: OPS_TOKEN });
  const limits = { retries: 3, maxRetryDelayMs: 30_000, timeoutMs: 60_000 };
  const settings = { ...limits, fetch: globalThis.fetch, signal: context.signal };
  const { data } = await send(request, facts, settings).catch((error: unknown) => {
    if (error instanceof ConnectionError)
      throw new CommandError(
        `${error.message}\nCheck the management port (--ops-url, PDS_OPS_URL) and the network, then try again.`,
        exitCodes.unavailable,
        { cause: error },
      );
    if (!(error instanceof ProblemError) || error.status !== 401) throw error;
    throw new CommandError('OPS_TOKEN is not the token of the service.', exitCodes.notAuthorized, {
      cause: error,
    });
  });
  // the service sends what its contract declares
  return data as Result;
}

/** Runs a command of `tools/admin` of the project that contains the current folder. Resolves with its exit code. */
async function runAdmin(context: Context, words: readonly string[]): Promise<number> {
  const project = await findProject(context.cwd);
  if (project === undefined)
    throw new CommandError(
      `This command works on the database directly, so run it where the service is:
  npm run admin -- ${words.join(' ')}                in a clone of the project
  node tools/admin/main.ts ${words.join(' ')}        in a container of the service`,
    );
  const child = spawn('npm', ['run', '--silent', 'admin', '--', ...words], {
    cwd: project,
    env: context.env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return waitFor(child, context.signal);
}

/** The folder of the project that contains a folder, if it is a clone. */
async function findProject(folder: string): Promise<string | undefined> {
  try {
    const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    await access(join(folder, 'tools', 'admin', 'main.ts'));
    if (name === 'process-document-service') return folder;
  } catch {
    // not a clone; the folder above may be one
  }
  return dirname(folder) === folder ? undefined : findProject(dirname(folder));
}

function waitFor(child: ChildProcess, signal: AbortSignal): Promise<number> {
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  return new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(new CommandError(`Cannot start npm: ${error.message}`)));
    child.on('close', (code) => resolve(code ?? exitCodes.failed));
  }).finally(() => signal.removeEventListener('abort', stop));
}
