/** A connection to RabbitMQ over which the topology has been declared. */
import type { Duplex } from 'node:stream';
import type { Channel, ChannelModel } from 'amqplib';
import type { Secret } from '#libs/contract';
import { abortable, type OpenResource, within } from './reconnecting.ts';

/** An open connection. */
export interface Connection {
  model: ChannelModel;
  /** Whether the broker blocks publishing (memory or disk alarm). */
  readonly blocked: boolean;
  /** Resolves with the reason when the connection is lost. */
  lost: Promise<unknown>;
}

/** The time limit for one response from the broker, ms. */
export const responseTimeoutMs = 5_000;
/**
 * The time limit for `prepare`, ms: declaring the topology takes many requests, and quorum queues take time.
 */
const prepareMs = 30_000;
const heartbeatSeconds = 10;

/** Connects and prepares the connection. Rejects after about 35 seconds if the broker does not respond. */
export async function openConnection(options: {
  url: Secret;
  name: string;
  /** Runs before the connection is used. */
  prepare(model: ChannelModel): Promise<void>;
  onError(message: string, error: unknown): void;
  /** Cancels the attempt. */
  signal: AbortSignal;
}): Promise<OpenResource<Connection>> {
  // loaded only if RabbitMQ is used
  const { connect } = await import('amqplib');
  const connecting = connect(withHeartbeat(options.url), {
    // this also limits the handshake
    timeout: responseTimeoutMs,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: options.name },
  });
  const model = await abortable(options.signal, connecting).catch((error: unknown) => {
    // closes a connection that opens too late
    connecting.then(closeConnection, () => {});
    throw error;
  });
  let blocked = false;
  const lost = new Promise<unknown>((resolve) => {
    model.on('close', (error) => resolve(error ?? new Error('closed by the broker')));
    // an unhandled 'error' event would end the process; 'close' follows
    model.on('error', (error) => resolve(error));
  });
  model.on('blocked', (reason) => {
    blocked = true;
    options.onError(`RabbitMQ blocked ${options.name}`, new Error(String(reason)));
  });
  model.on('unblocked', () => {
    blocked = false;
  });
  const close = () => closeConnection(model);
  try {
    const rejectWhenLost = lost.then((error) => Promise.reject(error));
    const prepared = Promise.race([options.prepare(model), rejectWhenLost]);
    await within(prepareMs, options.name, abortable(options.signal, prepared));
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

/** Opens a channel whose errors close only the channel. */
export async function openChannel(model: ChannelModel): Promise<Channel> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  return channel;
}

/**
 * Closes a channel. If the connection is lost meanwhile, amqplib never settles its promise, so this awaits
 * 'close' too.
 */
export async function closeChannel(channel: Channel): Promise<void> {
  const lost = new Promise<void>((resolve) => channel.once('close', resolve));
  await Promise.race([channel.close(), lost]);
}

/**
 * Closes a connection within a second, then destroys its socket: amqplib does not end a half-open connection.
 */
async function closeConnection(model: ChannelModel): Promise<void> {
  const closed = new Promise<void>((resolve) => model.close().then(resolve, () => resolve()));
  await within(1_000, 'close', closed).catch(() => {});
  // amqplib's types do not declare the socket
  const { stream } = model.connection as unknown as { stream: Duplex };
  stream.destroy(new Error('The connection was closed'));
}

function withHeartbeat(secret: Secret): string {
  const url = new URL(secret.reveal());
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.href;
}
