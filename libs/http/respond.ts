/** Calls the handler of a route, or replays the stored response of an earlier request with its `Idempotency-Key`. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Request } from 'express';
import { type AnyOperation, InvalidRequest, idempotencyKeyPattern } from '#libs/contract';
import type { Store, StoredResponse } from '#libs/store';
import { type CursorKeyring, createCursorSealing } from './cursors.ts';
import {
  type HandlerInput,
  type Principal,
  type ReplayKey,
  Reply,
  type RequestInfo,
  type Route,
} from './handle.ts';
import { addLocation } from './location.ts';
import type { ParsedRequest } from './request.ts';
import type { RequestNotes } from './request-info.ts';
import { createResourceGuard } from './resource-guard.ts';
import { type Rendered, render } from './responses.ts';

/** What a response needs. */
export interface RespondOptions {
  /** Prefix of all API paths, e.g. `/api/v1`. */
  apiPrefix: string;
  store: Pick<Store, 'withIdempotencyKey'>;
  /** Seals the cursors of lists. */
  cursorKeyring: CursorKeyring;
}

/** Returns the rendered response of a parsed request. `notes` says whether it was replayed. */
export async function respond(
  { apiPrefix, store, cursorKeyring }: RespondOptions,
  route: Route,
  principal: Principal | undefined,
  parsed: ParsedRequest,
  request: Request,
  call: RequestInfo,
  notes: RequestNotes,
): Promise<Rendered> {
  const { operation } = route;
  const { params, body } = parsed;
  const { seal, openCursor } = createCursorSealing(cursorKeyring, operation, principal, parsed);
  const query = openCursor(parsed.query);
  const toRendered = (reply: unknown) =>
    addLocation(operation, params, apiPrefix, render(getStatus(operation, reply), reply, request, seal));
  const { authorize, assertAuthorized } = createResourceGuard(operation, principal);
  const run = async (actor: Principal | undefined) => {
    const reply = await route.run({ actor, params, query, body, call, authorize });
    assertAuthorized();
    return reply;
  };
  const key = operation.method === 'post' && principal ? getIdempotencyKey(request) : undefined;
  if (key === undefined || !principal) return toRendered(await run(principal));

  const scope = [
    principal.organization_id,
    principal.key_id ?? principal.user_id,
    request.method,
    request.path,
    key,
  ];
  const claim = {
    key: hash(JSON.stringify(scope)),
    fingerprint: hash(parsed.fingerprint + readSearch(request)),
  };
  let rendered: Rendered | undefined;
  const toResponse = (reply: unknown) => {
    rendered = toRendered(reply);
    return toStoredResponse(rendered, operation.secrets);
  };
  const result = await store.withIdempotencyKey(principal, { claim, toResponse }, run);
  if ('reply' in result) return rendered ?? toRendered(result.reply);
  notes.replayed = true;
  const input = { actor: principal, params, query, body, call, authorize };
  await route.authorizeReplay?.(input);
  assertAuthorized();
  const { replayKey, ...stored } = result.stored;
  const response = replayKey
    ? toRendered(await renderReplay(route, input, replayKey))
    : { ...stored, body: stored.body.length > 0 ? stored.body : undefined };
  return { ...response, headers: { ...response.headers, 'Idempotency-Replayed': 'true' } };
}

/** The query of a request as it was sent: another query makes another request. Empty without a query. */
function readSearch({ originalUrl }: Request): string {
  const at = originalUrl.indexOf('?');
  return at === -1 ? '' : originalUrl.slice(at);
}

function getStatus({ status, existingStatus }: AnyOperation, reply: unknown): number {
  return reply instanceof Reply && reply.isExisting ? (existingStatus ?? status) : status;
}

async function renderReplay(
  route: Route,
  input: HandlerInput<AnyOperation>,
  key: ReplayKey,
): Promise<unknown> {
  if (!route.replay) throw new Error(`${route.operation.id} cannot render a response again`);
  return route.replay(input, key);
}

const idempotencyKey = new RegExp(idempotencyKeyPattern);

function getIdempotencyKey(request: Request): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined || idempotencyKey.test(key)) return key;
  const message = 'Use 1 to 255 printable ASCII characters without spaces';
  throw InvalidRequest(undefined, { extra: { errors: [{ path: 'header/Idempotency-Key', message }] } });
}

/** Returns the response to store. Secrets that are shown only once become null. */
function toStoredResponse(
  { status, headers, body, replayKey }: Rendered,
  secrets: readonly string[] = [],
): StoredResponse {
  if (body instanceof Readable) throw new Error('A streamed response cannot be stored');
  const common = { status, headers, ...(replayKey && { replayKey }) };
  if (secrets.length === 0) return { ...common, body: body ?? '' };
  const hidden = Object.fromEntries(secrets.map((field) => [field, null]));
  return {
    ...common,
    body: JSON.stringify({ ...JSON.parse(Buffer.from(body ?? '').toString('utf8')), ...hidden }),
  };
}

function hash(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('base64url');
}
