/** `pds listen`: receives the events of the organization without a public address, and forwards them. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '../client.ts';
import { ProblemError } from '../errors.ts';
import type { EventType, ListenedEvent } from '../generated/contract.ts';
import { verifyWebhook, type WebhookPayload } from '../webhook.ts';
import { command } from './command.ts';
import type { Context } from './context.ts';
import { CommandError, exitCodes, formatError, toExitCode, UsageError } from './exit-codes.ts';
import { type ForwardResult, forward, signWith } from './forward.ts';

/** How long a request waits for events, and the longest pause after a failure. */
const [waitSeconds, maxPauseMs] = [30, 30_000];

/**
 * The most events of a request. The service signs them all when it responds. Receivers reject signatures that are older
 * than 300 seconds, and ten responses in the last moment take 100 seconds.
 */
const batchSize = 10;

const eventTypes = Object.keys({
  'document.published': true,
  'document.revised': true,
  'document.updated': true,
  'document.archived': true,
  'document.assigned': true,
  'document.review_due': true,
  'approval.requested': true,
  'approval.approved': true,
  'approval.rejected': true,
  'approval.withdrawn': true,
  'acknowledgement.requested': true,
  'acknowledgement.made': true,
  'acknowledgement.completed': true,
  'acknowledgement.overdue': true,
  'member.invited': true,
  'member.joined': true,
} satisfies Record<EventType, true>);

interface Listener {
  id: string;
  secret: string;
}

interface VerifiedEvent {
  event: ListenedEvent;
  payload: WebhookPayload;
}

/** What to do with events. */
interface Handling {
  target: URL | undefined;
  /** The secret of the receiver, if it is not that of the listener. */
  ownSecret: string | undefined;
  /** Event types; empty for all. */
  types: readonly string[];
  /** Returns false if the reader of the output, such as `head`, has ended, and the events go nowhere else. */
  isNeeded(): boolean;
}

export const listen = command({
  name: 'listen',
  summary: 'Receive events without a public address, and forward them',
  details: `For development. Needs no webhook. Prints the events that happen while it runs. With --forward-to, sends each of
them once to your receiver as a webhook request. Ctrl-C ends it.
The requests are signed with a new secret, which it prints, or with the secret in PDS_WEBHOOK_SECRET.`,
  options: {
    'forward-to': {
      type: 'string',
      value: 'URL',
      description: 'Where to send the events, such as http://localhost:3000/hooks',
    },
    event: {
      type: 'string',
      value: 'TYPE',
      isRepeated: true,
      choices: eventTypes,
      description: 'Only events of this type',
    },
  },
  async run(context, { options: { 'forward-to': forwardTo, event: types = [] } }) {
    const target = forwardTo === undefined ? undefined : parseTarget(forwardTo);
    let isRead = true;
    context.stdout.once('error', () => {
      isRead = false;
    });
    const isNeeded = () => isRead || target !== undefined;
    const handling = { target, types, ownSecret: readOwnSecret(context), isNeeded };
    const client = await context.client();
    for (;;) {
      const listener = await startListener(client);
      try {
        const where = target ? `Forwarding events to ${target.href}` : 'Showing events';
        const secret = handling.ownSecret ? 'the secret in PDS_WEBHOOK_SECRET' : listener.secret;
        context.note(`${where}. Their signing secret is ${secret}. Press Ctrl-C to stop.`);
        await handleEvents(context, client, listener, handling);
      } finally {
        await stopListener(context, listener);
      }
      if (!isNeeded()) return exitCodes.ok;
      context.note('The listener has ended, and events may be missing. Starting a new one.');
    }
  },
});

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(`--forward-to cannot be "${text}". Use a URL such as http://localhost:3000/hooks.`);
}

function readOwnSecret({ env }: Context): string | undefined {
  const secret = env.PDS_WEBHOOK_SECRET || undefined;
  if (secret === undefined || /^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) return secret;
  throw new UsageError('PDS_WEBHOOK_SECRET is not a secret of a webhook. It begins with whsec_.');
}

async function startListener(client: Client): Promise<Listener> {
  const { id, secret } = await client.createWebhookListener();
  if (secret !== null) return { id, secret };
  // the client has repeated the request, and the stored response does not contain the secret
  await client.deleteWebhookListener({ listener_id: id });
  const message = 'The connection broke while the listener was created. Try again.';
  throw new CommandError(message, exitCodes.unavailable);
}

/** Ends the listener, so that it does not count for the limit of the organization. */
async function stopListener(context: Context, { id }: Listener): Promise<void> {
  // the usual client ends with the signal
  const client = createClient({ ...(await context.credentials()), timeoutMs: 5_000, retries: 0 });
  await client.deleteWebhookListener({ listener_id: id }).catch(() => {
    // it ends by itself after 15 minutes
  });
}

/** Handles events until the listener has ended, or nobody needs them. */
async function handleEvents(
  context: Context,
  client: Client,
  listener: Listener,
  handling: Handling,
): Promise<void> {
  /** The events that were handled and may come again, because they could not be confirmed. */
  let handledIds: string[] = [];
  for (let pauseMs = 1_000; ; ) {
    try {
      if (handledIds.length > 0)
        await client.confirmWebhookEvents({ listener_id: listener.id, body: { event_ids: handledIds } });
      handledIds = [];
      if (!handling.isNeeded()) return;
      for (const verified of await receive(context, client, listener)) {
        await handleEvent(context, verified, handling);
        handledIds.push(verified.event.event_id);
      }
      pauseMs = 1_000;
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (error instanceof ProblemError && error.status === 404) return;
      if (toExitCode(error) !== exitCodes.unavailable) throw error;
      const hint = 'Trying again. No event is lost if this takes less than 15 minutes.';
      context.note(`${formatError(error)}\n${hint}`);
      await pause(pauseMs, undefined, { signal: context.signal });
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }
}

/** Receives events and verifies them before any is forwarded: a slow receiver would make later signatures too old. */
async function receive(context: Context, client: Client, { id, secret }: Listener): Promise<VerifiedEvent[]> {
  const start = performance.now();
  const options = { timeoutMs: (waitSeconds + 15) * 1_000 };
  const input = { listener_id: id, wait_seconds: waitSeconds, limit: batchSize };
  const events = await client.receiveWebhookEvents(input, options);
  // a service that stops does not wait
  if (events.length === 0 && performance.now() - start < 1_000)
    await pause(1_000, undefined, { signal: context.signal });
  const verify = async (event: ListenedEvent): Promise<VerifiedEvent> => {
    const headers = new Headers(event.headers);
    return { event, payload: await verifyWebhook({ secret, headers, body: event.body }) };
  };
  return Promise.all(events.map(verify));
}

/** Forwards and prints an event. */
async function handleEvent(
  context: Context,
  { event, payload }: VerifiedEvent,
  { target, ownSecret, types }: Handling,
): Promise<void> {
  if (types.length > 0 && !types.includes(event.event_type)) return;
  const signed = ownSecret === undefined ? event : signWith(ownSecret, event);
  const forwarded = target && (await forward(target, signed, context.signal));
  // unlike print, without a change of the data
  if (context.isJson)
    context.stdout.write(`${JSON.stringify({ event: payload, ...(forwarded && { forwarded }) })}\n`);
  else context.print(describeEvent(payload, forwarded));
}

function describeEvent({ timestamp, event_type, data }: WebhookPayload, result?: ForwardResult): string {
  const subject = 'document' in data ? `${data.document.id} "${data.document.title}"` : undefined;
  const outcome =
    result && `→ ${'status' in result ? `${result.status} in ${result.duration_ms} ms` : result.error}`;
  return [timestamp, event_type, subject, outcome].filter((part) => part !== undefined).join('  ');
}
