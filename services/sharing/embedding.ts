/** Embedding: what a public link shows to anyone who has it. */
import { setImmediate as turn } from 'node:timers/promises';
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
import { type OpenedLink, type Representation, representations } from './representations.ts';
import { isForPeople, opens } from './rules.ts';
import type { SharingStore } from './store.ts';

/** What embedding needs. */
export interface Embedding {
  sharing: Pick<SharingStore, 'organizationBySlug' | 'byToken' | 'published' | 'document' | 'nodes'>;
  /** Bytes of rendered documents kept in memory. */
  cacheBytes: number;
  limit: NotFoundLimit;
  countResponse: CountResponse;
}

/** How often a document that changes while it is read is read again. */
const tries = 5;

/** How long rendering may keep other requests waiting. */
const turnMs = 10;

/** On every answer of a public link, found or not. */
const publicHeaders = {
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept',
};

/** A notice says nothing of any organization, so any page may frame it. */
const noticeHeaders = {
  ...publicHeaders,
  'Content-Security-Policy': pagePolicy(noticeStyleSource, '*'),
};

/** Stands for an id that was not found, so that every 404 asks MongoDB the same questions. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** The operation behind public links. */
export function embedding({ sharing, cacheBytes, limit, countResponse }: Embedding): Route[] {
  // nothing is kept of a document that changed while it was read
  const rendered = renderCache<Uint8Array>(cacheBytes);

  const embed = handle(getEmbeddedDocument, async ({ params, query, call }) => {
    const link = `${params.org_slug}/${params.token}`;
    const waitS = limit.waitS(call.address, link);
    if (waitS > 0) throw tooMany(limit.policy, waitS);
    const name = isForPeople(query.format, call) ? 'html' : 'json';
    const form = representations[name];
    for (let left = tries; left > 0; left -= 1) {
      const opened = await openedBy(params);
      limit.was(opened !== undefined, call.address, link);
      if (!opened) throw closed;
      const etag = form.getEtag(opened);
      const headers = { ...publicHeaders, ...form.getHeaders(opened.organization) };
      let cache: 'miss' | 'hit' | 'not_modified' = call.hasCurrent(etag) ? 'not_modified' : 'hit';
      const make = () => {
        cache = 'miss';
        return render(form, opened);
      };
      const bytes = cache === 'not_modified' ? nothingNew : await rendered.getOrRender(etag, make);
      if (bytes) countResponse({ format: name, cache });
      if (bytes) return reply(body(form.type, bytes), { etag, headers });
    }
    throw Unavailable('The document is being changed at this moment: try again.', {
      headers: { ...publicHeaders, 'Retry-After': '1' },
    });
  });

  return [
    withProblemPages(embed, ({ kind }, call, { format }) =>
      isForPeople(format, call)
        ? { html: noticePage(kind, call.requestId), headers: noticeHeaders }
        : undefined,
    ),
  ];

  /** The small rows that decide are read on every request; nothing about them is remembered. */
  async function openedBy({ org_slug, token }: { org_slug: string; token: string }) {
    const [organization, held] = await Promise.all([
      sharing.organizationBySlug(org_slug),
      sharing.byToken(token),
    ]);
    const published = await sharing.published(held?.organization_id ?? nobody, held?.family_id ?? nobody);
    const document = opens({ token, organization, held, document: published });
    return document && organization ? { document, organization } : undefined;
  }

  /** The bytes of a document, or nothing when it changed while its nodes were read. */
  async function render(form: Representation, opened: OpenedLink): Promise<Uint8Array | undefined> {
    const { document } = opened;
    const rows = await sharing.nodes(document._id);
    const after = await sharing.document(document.organization_id, document._id);
    if (after?.row_version !== document.row_version) return undefined;
    return bytesOf(form.render(opened, rows));
  }
}

/** The body of a 304, which has none. */
const nothingNew = new Uint8Array();

/** All pieces as UTF-8; other requests are answered in between. */
async function bytesOf(pieces: Iterable<string>): Promise<Uint8Array> {
  let text = '';
  let since = performance.now();
  for (const piece of pieces) {
    text += piece;
    if (performance.now() - since < turnMs) continue;
    await turn();
    since = performance.now();
  }
  return Buffer.from(text);
}

/** One answer for every cause; the same value each time, since a stack would cost more than all the rest of it. */
const closed = NotFound(undefined, { headers: publicHeaders });

function tooMany(policy: RateLimitPolicy, waitS: number): Problem {
  return TooManyRequests('Too many links that lead nowhere: wait as `Retry-After` says.', {
    headers: { ...publicHeaders, ...rateLimitHeaders(policy, waitS) },
  });
}
