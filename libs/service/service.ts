/** A service as a value: its contract, its settings, its collections and what it does once it has a store. */
import type { z } from 'zod';
import type { Contract, Secret } from '#libs/contract';
import type { Subscriber } from '#libs/events';
import type { Authenticate, Route } from '#libs/http';
import type { Collection, Store } from '#libs/store';
import type { PublicHealth } from './health.ts';
import type { Log } from './log.ts';
import type { Metric } from './metric-definition.ts';
import type { Meters } from './metric-registry.ts';
import type { Tracing } from './tracing.ts';

/** What a service is given when it starts. */
export interface ServiceContext<Settings> {
  store: Store;
  /** MongoDB's address, for threads that read for themselves. */
  mongodb: Secret;
  settings: Settings;
  log: Log;
  meters: Meters;
  now: () => Date;
  /** How this process is, as anyone may know. */
  health(): Promise<PublicHealth>;
  /** Runs work of its own as a unit that can be followed. */
  tracing: Pick<Tracing, 'withSpan' | 'setAttributes' | 'current' | 'workStats'>;
}

/** Work in the background. */
export interface Worker {
  start(): void;
  /** Takes nothing new; resolves when what is in hand is done or given back. */
  stop(): Promise<void>;
}

/** What a service does. */
export interface ServiceHandlers {
  routes: readonly Route[];
  authenticate: Authenticate;
  /** Operations for operators, with credentials of their own. */
  adminHandlers?: { routes: readonly Route[]; authenticate: Authenticate };
  subscribers?: readonly Subscriber[];
  workers?: readonly Worker[];
  /** Done once before the service answers, e.g. making a first key. */
  beforeStart?(): Promise<void>;
}

/** A service: nothing in it knows in which process, or beside which others, it runs. */
export interface Service<Shape extends z.ZodObject = z.ZodObject> {
  readonly contract: Contract;
  /** Names in the environment and their shapes. */
  readonly settings: Shape;
  // biome-ignore lint/suspicious/noExplicitAny: collections of every row type; each is typed where it is used
  readonly collections: readonly Collection<any>[];
  /** What it tells of itself beside what all tell. */
  readonly metrics?: readonly Metric[];
  start(context: ServiceContext<z.output<Shape>>): ServiceHandlers;
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds services with settings of every shape
export type AnyService = Service<any>;

/** Declares a service. */
export function service<Shape extends z.ZodObject>(options: Service<Shape>): Service<Shape> {
  return options;
}
