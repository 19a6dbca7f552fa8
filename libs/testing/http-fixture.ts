/** The fixture for tests of libs/http: routes behind a listener, without a database. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { access, Forbidden, IdempotencyKeyReused, newId, Secret } from '#libs/contract';
import {
  type Admission,
  type Authenticate,
  application,
  type BodyReading,
  createBodyBudget,
  createBodyParser,
  createRouter,
  type HttpListener,
  listen,
  type Principal,
  type RequestOutcome,
  type Route,
  type TokenBucket,
} from '#libs/http';
import { createKeyring, type Store, type StoredResponse } from '#libs/store';
import type { AnyJson } from './http-client.ts';

/** The principal of the token `good`; the token `outsider` gives a principal without permissions. */
export const ada: Principal = { organization_id: newId(), user_id: newId(), key_id: null };

/** An access rule that rejects the principal of the token `outsider`. */
export const insider = access<Principal>({
  name: 'insider',
  description: 'Insiders.',
  problems: [Forbidden],
  authorize: (principal) => (principal.key_id === 'outsider' ? Forbidden() : undefined),
});

const cursorKeyring = createKeyring(new Secret(randomBytes(32).toString('base64')));

/** Routes behind a listener. */
export interface HttpFixture {
  origin: string;
  port: number;
  listening: HttpListener;
  /** The outcomes of requests, in order. */
  outcomes: RequestOutcome[];
  /** The ids of the operations of requests that were rejected because of overload, in order. */
  rejected: (string | undefined)[];
  /** Errors that occurred outside of operations. */
  errors: unknown[];
  /** Sends a request with the token `as` (default `good`, null for none). */
  ask(method: string, path: string, init?: RequestInit & { as?: string | null }): Promise<Response>;
  /** Sends raw bytes on a new connection; resolves with everything received until the connection closes. */
  raw(text: string): Promise<string>;
}

/** Replaces parts of the fixture. */
export interface HttpFixtureOptions {
  store?: Pick<Store, 'withIdempotencyKey'>;
  limit?: TokenBucket;
  authenticate?: Authenticate;
  bodies?: BodyReading;
  admission?: Admission;
  trustedProxies?: string[];
}

/** Starts a listener with these routes on a free port. */
export async function httpFixture(
  handled: readonly Route[],
  options: HttpFixtureOptions = {},
): Promise<HttpFixture> {
  const outcomes: RequestOutcome[] = [];
  const rejected: (string | undefined)[] = [];
  const errors: unknown[] = [];
  const principals: Record<string, Principal> = { good: ada, outsider: { ...ada, key_id: 'outsider' } };
  const toRouter = (routes: readonly Route[]) =>
    createRouter({
      routes,
      store: options.store ?? memoryResponseStore(),
      authenticate: options.authenticate ?? (async (token) => principals[token]),
      cursorKeyring,
      apiPrefix: '/api/v1',
      limit: options.limit,
      bodies: options.bodies ?? { budget: createBodyBudget(64 * 2 ** 20), parser: createBodyParser() },
      span: (_name, _headers, _arrivedAt, work) => work(),
      onOutcome: (outcome) => void outcomes.push(outcome),
    });
  const app = application({
    // Express leaves a router without routes in a later turn of the event loop
    routers: [toRouter([]), toRouter(handled)],
    ...(options.admission && {
      admission: {
        admission: options.admission,
        onOverload: (operation) => void rejected.push(operation?.id),
      },
    }),
    routes: handled,
    apiPrefix: '/api/v1',
    trustedProxies: options.trustedProxies ?? [],
    onError: (_message, error) => void errors.push(error),
  });
  const listening = await listen(app, 0, '127.0.0.1');
  const origin = `http://127.0.0.1:${listening.port}`;
  return {
    origin,
    port: listening.port,
    listening,
    outcomes,
    rejected,
    errors,
    ask(method, path, { as = 'good', ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as !== null) headers.set('authorization', `Bearer ${as}`);
      return fetch(origin + path, { method, redirect: 'manual', ...init, headers });
    },
    raw(text) {
      return new Promise((resolve, reject) => {
        let received = '';
        const socket = connect(listening.port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk) => {
          received += chunk.toString('latin1');
        });
        socket.on('close', () => resolve(received));
        socket.on('error', reject);
      });
    },
  };
}

/** Parses the JSON body of a response. */
export async function parseJson(response: Response | Promise<Response>): Promise<AnyJson> {
  return (await response).json();
}

/**
 * Stores responses in memory without transactions; a body over `longest` characters is replaced by its replay
 * key.
 */
export function memoryResponseStore({
  longest = Number.POSITIVE_INFINITY,
} = {}): Pick<Store, 'withIdempotencyKey'> {
  const responses = new Map<string, StoredResponse & { fingerprint: string }>();
  return {
    async withIdempotencyKey(actor, { claim, toResponse }, work) {
      const stored = responses.get(claim.key);
      if (stored && stored.fingerprint !== claim.fingerprint) throw IdempotencyKeyReused();
      if (stored) return { stored };
      const reply = await work(actor);
      const { replayKey, ...response } = toResponse(reply);
      const isLong = replayKey && response.body.length > longest;
      const saved = isLong ? { ...response, body: '', replayKey } : response;
      responses.set(claim.key, { ...saved, fingerprint: claim.fingerprint });
      return { reply };
    },
  };
}
