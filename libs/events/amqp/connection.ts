/** A connection to the broker on which the whole topology has been declared. */
import type { Duplex } from 'node:stream';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { Secret } from '#libs/contract';
import { type OpenResource, within } from './reconnecting.ts';

/** An open connection. */
export interface Connection {
  model: ChannelModel;
  /** Whether the broker asks not to publish (memory or disk alarm). */
  readonly blocked: boolean;
  /** Resolves with the reason when it is of no use any more. */
  lost: Promise<unknown>;
}

/** How long the broker may take for one answer, ms. */
export const answerMs = 5_000;
/** Declaring takes many answers, and quorum queues of a cluster are not made in a moment. */
const prepareMs = 30_000;
const heartbeatSeconds = 10;

/** Connects and prepares the connection; rejects within bounded time when the broker does not answer. */
export async function openConnection(options: {
  url: Secret;
  name: string;
  /** Done before anybody may use the connection. */
  prepare(model: ChannelModel): Promise<void>;
  onError(what: string, error: unknown): void;
  /** When aborted, nobody waits any longer. */
  signal: AbortSignal;
}): Promise<OpenResource<Connection>> {
  const aborted = new Promise<never>((_, reject) => {
    options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
  });
  // it is only raced against
  aborted.catch(() => {});
  const connecting = connect(withHeartbeat(options.url), {
    // also the limit for the handshake
    timeout: answerMs,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: options.name },
  });
  const model = await Promise.race([connecting, aborted]).catch((error: unknown) => {
    // one that comes after all is let go of
    connecting.then(closeConnection, () => {});
    throw error;
  });
  let blocked = false;
  const lost = new Promise<unknown>((resolve) => {
    model.on('close', (error) => resolve(error ?? new Error('closed by the broker')));
    // an 'error' that nobody listens to would end the process; 'close' follows
    model.on('error', (error) => resolve(error));
  });
  model.on('blocked', (reason) => {
    blocked = true;
    options.onError(`${options.name} is blocked by the broker`, new Error(String(reason)));
  });
  model.on('unblocked', () => {
    blocked = false;
  });
  const close = () => closeConnection(model);
  try {
    const rejectWhenLost = lost.then((error) => Promise.reject(error));
    await within(prepareMs, options.name, Promise.race([options.prepare(model), rejectWhenLost, aborted]));
  } catch (error) {
    await close();
    throw error;
  }
  const value = {
    model,
    lost,
    get blocked() {
      return blocked;
    },
  };
  return { value, lost, close };
}

/** Opens a channel whose errors end nothing but the channel. */
export async function quietChannel(model: ChannelModel): Promise<Channel> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  return channel;
}

/** Closes a channel. Whoever only waits for amqplib waits for ever when the connection is lost before the broker answers. */
export async function closeChannel(channel: Channel): Promise<void> {
  const lost = new Promise<void>((resolve) => channel.once('close', resolve));
  await Promise.race([channel.close(), lost]);
}

/** Says goodbye where somebody answers, then destroys the socket: of a half-open connection amqplib lets go of neither. */
async function closeConnection(model: ChannelModel): Promise<void> {
  const closed = new Promise<void>((resolve) => model.close().then(resolve, () => resolve()));
  await within(1_000, 'goodbye', closed).catch(() => {});
  // amqplib's types do not name the socket
  const { stream } = model.connection as unknown as { stream: Duplex };
  stream.destroy(new Error('given up'));
}

function withHeartbeat(secret: Secret): string {
  const url = new URL(secret.reveal());
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.href;
}
