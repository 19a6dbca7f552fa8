/** A service as a value: its contract, settings, collections and handlers. */
import type { z } from 'zod';
import type { Contract, Secret } from '#libs/contract';
import type { Subscriber } from '#libs/events';
import type { Authenticate, Route } from '#libs/http';
import type { Collection, Keyring, Store } from '#libs/store';
import type { PublicHealth } from './health.ts';
import type { Log } from './log.ts';
import type { Metric } from './metric-definition.ts';
import type { Meters } from './metric-registry.ts';
import type { Tracing } from './tracing.ts';

/** What a service receives when it starts. */
export interface ServiceContext<Settings> {
  store: Store;
  /** Connection string of MongoDB, for workers that open their own connection. */
  mongodb: Secret;
  settings: Settings;
  log: Log;
  meters: Meters;
  now: () => Date;
  /** Returns the public health of this process. */
  health(): Promise<PublicHealth>;
  /** Derives keys from `ENCRYPTION_KEYS` for texts that are sealed and not stored, such as cookies. */
  deriveKeyring(purpose: string): Keyring;
  /** Runs background work in its own span. */
  tracing: Pick<Tracing, 'withSpan' | 'setAttributes' | 'currentTraceparent' | 'workStats'>;
}

/** A background worker. */
export interface Worker {
  start(): void;
  /** Accepts no new work. Resolves when work in progress is finished or released. */
  stop(): Promise<void>;
}

/** The handlers of a service. */
export interface ServiceHandlers {
  routes: readonly Route[];
  authenticate: Authenticate;
  /** Operations for operators, with their own authentication. */
  adminHandlers?: { routes: readonly Route[]; authenticate: Authenticate };
  subscribers?: readonly Subscriber[];
  workers?: readonly Worker[];
  /** Runs once before the service accepts requests, e.g. to create the first signing key. */
  beforeStart?(): Promise<void>;
  /** Runs when the process begins to stop, before it waits for requests in flight. Ends long polls. */
  onDrain?(): void;
}

/** A service. It does not know in which process, or with which other services, it runs. */
export interface Service<Shape extends z.ZodObject = z.ZodObject> {
  readonly contract: Contract;
  /** Schema of its environment variables. */
  readonly settings: Shape;
  // biome-ignore lint/suspicious/noExplicitAny: collections of every row type; each is typed where it is used
  readonly collections: readonly Collection<any>[];
  /** Its own metrics, in addition to those of every service. */
  readonly metrics?: readonly Metric[];
  start(context: ServiceContext<z.output<Shape>>): ServiceHandlers;
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds services with settings of every shape
export type AnyService = Service<any>;

/** Declares a service. */
export function service<Shape extends z.ZodObject>(options: Service<Shape>): Service<Shape> {
  return options;
}
