/** Serves the document of a public link to everyone who has the link, as JSON or as an HTML page. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  body,
  NotFound,
  type Problem,
  type RateLimitPolicy,
  rateLimitHeaders,
  TooManyRequests,
  Unavailable,
} from '#libs/contract';
import { handle, type Route, renderCache, reply, withProblemPages } from '#libs/http';
import { getEmbeddedDocument } from './contract.ts';
import type { CountResponse } from './metrics.ts';
import type { NotFoundLimit } from './not-found-limit.ts';
import { noticePage } from './page/notice.ts';
import { pagePolicy } from './page/policy.ts';
import { noticeStyleSource } from './page/styles.ts';
import { type Representation, type ResolvedLink, representations } from './representations.ts';
import { resolveLink, wantsHtml } from './rules.ts';
import type { SharingStore } from './store.ts';

/** Dependencies and settings of the embed route. */
export interface EmbedOptions {
  sharing: Pick<SharingStore, 'findLink' | 'document' | 'nodes'>;
  /** Size of the cache of rendered documents, in bytes. */
  cacheBytes: number;
  limit: NotFoundLimit;
  now: () => Date;
  countResponse: CountResponse;
}

/** Attempts to read a document that changes while it is being read. */
const maxAttempts = 5;

/** Milliseconds that rendering may block the event loop. */
const maxBlockMs = 10;

/** The headers of every response of a public link, including problems. */
const publicHeaders = {
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept',
};

/** The headers of a 503 for a document that changed in every attempt. */
const retryHeaders = { ...publicHeaders, 'Retry-After': '1' };

/** The headers of a notice page. Any site may frame it, because it reveals nothing about an organization. */
const noticeHeaders = {
  ...publicHeaders,
  'Content-Security-Policy': pagePolicy(noticeStyleSource, '*'),
};

/** The route of public links: checks the link, then returns the document as JSON or HTML. */
export function embedRoutes({ sharing, cacheBytes, limit, now, countResponse }: EmbedOptions): Route[] {
  const cache = renderCache(cacheBytes);

  const embed = handle(getEmbeddedDocument, async ({ params, query, call }) => {
    const path = `${params.org_slug}/${params.token}`;
    const waitSeconds = limit.getWaitSeconds(call.address, path);
    if (waitSeconds > 0) throw tooManyUnknownLinks(limit.policy, waitSeconds);
    const format = wantsHtml(query.format, call) ? 'html' : 'json';
    const representation = representations[format];
    const open = async () => {
      const link = await findLink(params);
      limit.record(link !== undefined, call.address, path);
      if (!link) throw linkNotFound;
      return { link, etag: representation.getEtag(link), render: () => render(representation, link) };
    };
    const found = await cache.read({ open, call, maxAttempts });
    if (!found) throw Unavailable('The document is being changed. Try again.', { headers: retryHeaders });
    countResponse({ format, cache: found.cacheStatus });
    const { link, etag } = found.version;
    const headers = { ...publicHeaders, ...representation.getHeaders(link) };
    return reply(body(representation.type, found.bytes), { etag, headers });
  });

  return [
    withProblemPages(embed, ({ kind }, call, { format }) =>
      wantsHtml(format, call)
        ? { html: noticePage(kind, call.requestId), headers: noticeHeaders }
        : undefined,
    ),
  ];

  /** Reads the rows that decide whether a link works; never cached, so that every change applies at once. */
  async function findLink({ org_slug, token }: { org_slug: string; token: string }) {
    return resolveLink({ token, ...(await sharing.findLink(org_slug, token)), now: now() });
  }

  /** Renders a document as UTF-8; undefined if it changed while its nodes were read. */
  async function render(representation: Representation, link: ResolvedLink): Promise<Uint8Array | undefined> {
    const { document } = link;
    const rows = await sharing.nodes(document._id);
    const after = await sharing.document(document.organization_id, document._id);
    if (after?.row_version !== document.row_version) return undefined;
    return encodePieces(representation.render(link, rows));
  }
}

/** Joins the pieces as UTF-8 and yields to other requests in between. */
async function encodePieces(pieces: Iterable<string>): Promise<Uint8Array> {
  let text = '';
  let since = performance.now();
  for (const piece of pieces) {
    text += piece;
    if (performance.now() - since < maxBlockMs) continue;
    await yieldToEventLoop();
    since = performance.now();
  }
  return Buffer.from(text);
}

/** The 404 of every invalid link, created once: a stack trace would cost more than the whole request. */
const linkNotFound = NotFound(undefined, { headers: publicHeaders });

function tooManyUnknownLinks(policy: RateLimitPolicy, waitSeconds: number): Problem {
  return TooManyRequests('Too many requests for unknown links. Wait for the time given in `Retry-After`.', {
    headers: { ...publicHeaders, ...rateLimitHeaders(policy, waitSeconds) },
  });
}
