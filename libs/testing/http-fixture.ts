/** The stage for tests of HTTP: handled operations behind a listener, without any database. */
import { connect } from 'node:net';
import { type AnyOperation, access, Forbidden, IdempotencyKeyReused, newId } from '#libs/contract';
import {
  type Authenticate,
  application,
  createRouter,
  type HttpListener,
  listen,
  type Principal,
  type RequestOutcome,
  type Route,
  type TokenBucket,
} from '#libs/http';
import type { Store, StoredResponse } from '#libs/store';

/** A principal whose access token is `good`; `outsider` is one who may do nothing. */
export const ada: Principal = { organization_id: newId(), user_id: newId(), key_id: null };

export const insider = access<Principal>({
  name: 'insider',
  description: 'Insiders.',
  problems: [Forbidden],
  authorize: (principal) => (principal.key_id === 'outsider' ? Forbidden() : undefined),
});

/** Operations behind a listener. */
export interface HttpFixture {
  origin: string;
  port: number;
  listening: HttpListener;
  /** How requests ended, in order. */
  outcomes: RequestOutcome[];
  /** Errors outside of operations. */
  errors: unknown[];
  /** Asks with the token `good` unless told otherwise. */
  ask(method: string, path: string, init?: RequestInit & { as?: string | null }): Promise<Response>;
  /** Sends bytes as they are on a connection of their own; gives all that comes back until it is closed. */
  raw(text: string): Promise<string>;
}

/** What may be chosen. */
export interface HttpFixtureOptions {
  store?: Pick<Store, 'withIdempotencyKey'>;
  limit?: TokenBucket;
  authenticate?: Authenticate;
}

/** Sets the stage. */
export async function httpFixture(
  handled: readonly Route[],
  options: HttpFixtureOptions = {},
): Promise<HttpFixture> {
  const outcomes: RequestOutcome[] = [];
  const errors: unknown[] = [];
  const principals: Record<string, Principal> = { good: ada, outsider: { ...ada, key_id: 'outsider' } };
  const router = createRouter({
    routes: handled,
    store: options.store ?? memoryResponseStore(),
    authenticate: options.authenticate ?? (async (token) => principals[token]),
    apiPrefix: '/api/v1',
    limit: options.limit,
    span: (_name, _headers, work) => work(),
    onOutcome: (one) => void outcomes.push(one),
  });
  const operations: AnyOperation[] = handled.map(({ operation }) => operation);
  const app = application({
    routers: [router],
    operations,
    apiPrefix: '/api/v1',
    trustedProxies: [],
    onError: (_what, error) => void errors.push(error),
  });
  const listening = await listen(app, 0, '127.0.0.1');
  const origin = `http://127.0.0.1:${listening.port}`;
  return {
    origin,
    port: listening.port,
    listening,
    outcomes,
    errors,
    ask(method, path, { as = 'good', ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as !== null) headers.set('authorization', `Bearer ${as}`);
      return fetch(origin + path, { method, redirect: 'manual', ...init, headers });
    },
    raw(text) {
      return new Promise((resolve, reject) => {
        let answer = '';
        const socket = connect(listening.port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk) => {
          answer += chunk.toString('latin1');
        });
        socket.on('close', () => resolve(answer));
        socket.on('error', reject);
      });
    },
  };
}

/** The JSON of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export async function parseJson(answer: Response | Promise<Response>): Promise<any> {
  return (await answer).json();
}

/** Stores responses in memory, without any transaction; those over `longest` characters only as their replay key. */
export function memoryResponseStore({
  longest = Number.POSITIVE_INFINITY,
} = {}): Pick<Store, 'withIdempotencyKey'> {
  const responses = new Map<string, StoredResponse & { fingerprint: string }>();
  return {
    async withIdempotencyKey(acting, { claim, toResponse }, work) {
      const stored = responses.get(claim.key);
      if (stored && stored.fingerprint !== claim.fingerprint) throw IdempotencyKeyReused();
      if (stored) return { stored };
      const reply = await work(acting);
      const { replayKey, ...response } = toResponse(reply);
      const isLong = replayKey && response.body.length > longest;
      const saved = isLong ? { ...response, body: '', replayKey } : response;
      responses.set(claim.key, { ...saved, fingerprint: claim.fingerprint });
      return { reply };
    },
  };
}
