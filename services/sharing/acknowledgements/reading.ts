/** Serves the personal link of a reader: the document with the statement and a button, and the form behind it. */
import { body as createBody, NotFound, Unavailable } from '#libs/contract';
import { pagePolicy } from '#libs/html-page';
import {
  handle,
  type ProblemPage,
  type RenderCache,
  type RequestInfo,
  type Route,
  reply,
  withProblemPages,
} from '#libs/http';
import { fillAddresses } from '../asset-addresses.ts';
import { acknowledgeByLink, getReadingAsset, readDocument } from '../contract.ts';
import { createPictureDetector, type ReadAsset } from '../link-assets.ts';
import type { CountResponse } from '../metrics.ts';
import type { NotFoundLimit } from '../not-found-limit.ts';
import { noticePage } from '../page/notice.ts';
import { noticeStyleSource } from '../page/styles.ts';
import { personalHeaders } from '../public-headers.ts';
import { createRenderer, maxAttempts, type RenderSource, tooManyUnknownLinks } from '../rendering.ts';
import { hashToken, wantsHtml } from '../rules/links.ts';
import type { PersonalLink } from '../store/personal-links.ts';
import type { SharingStore } from '../store/share-tokens.ts';
import { readings } from './reading-representations.ts';
import { recordAcknowledgement, retryDuplicate } from './recording.ts';
import type { AcknowledgementDeps } from './requests.ts';

/** The dependencies of the routes of personal links. */
export interface ReadingDeps extends AcknowledgementDeps {
  findPersonalLink(token: string): Promise<PersonalLink | undefined>;
  sharing: RenderSource & Pick<SharingStore, 'referencesAsset'>;
  readAsset: ReadAsset;
  cache: RenderCache;
  limit: NotFoundLimit;
  /** Public URL of the application, without a trailing slash; personal links start with it. */
  appUrl: string;
  countResponse: CountResponse;
  count: (labels: { kind: 'reader' }) => void;
}

/** The headers of a 503 for a document that changed in every attempt. */
const retryHeaders = { ...personalHeaders, 'Retry-After': '1' };

/** The routes of personal links. */
export function readingRoutes(deps: ReadingDeps): Route[] {
  const { limit, cache, now } = deps;
  const render = createRenderer(deps.sharing);
  const hasPicturesIn = createPictureDetector(deps.sharing);
  const basePath = new URL(deps.appUrl).pathname.replace(/\/$/, '');

  const read = handle(readDocument, async ({ params: { token }, query, call }) => {
    assertFewUnknownLinks(token, call);
    const format = wantsHtml(query.format, call) ? 'html' : 'json';
    const reading = readings[format];
    const open = async () => {
      const link = await findLink(token, call);
      return {
        ...{ link, etag: reading.getEtag(link), cacheKey: reading.getCacheKey(link) },
        render: () => render(link.document, (rows, assets) => reading.render(link, rows, assets)),
      };
    };
    const found = await cache.read({ open, call, maxAttempts });
    if (!found) throw Unavailable('The document is being changed. Try again.', { headers: retryHeaders });
    deps.countResponse({ format: `reading_${format}`, cache: found.cacheStatus });
    const { link, etag } = found.version;
    const address = `${deps.appUrl}/read/${token}/assets/`;
    const hasPictures = await hasPicturesIn(link.document._id, found);
    const headers = { ...personalHeaders, ...reading.getHeaders(link, hasPictures ? address : undefined) };
    const filled = hasPictures ? fillAddresses(found.bytes, reading.escape(address)) : found.bytes;
    // for a 304 nothing was rendered
    const bytes = found.cacheStatus === 'not_modified' ? found.bytes : reading.personalize(link, filled);
    return reply(createBody(reading.type, bytes), { etag, headers });
  });

  const acknowledge = handle(acknowledgeByLink, async ({ params: { token }, query, body, call }) => {
    assertFewUnknownLinks(token, call);
    const link = await findLink(token, call);
    const isNew = await retryDuplicate(() => record(link, hashToken(token), body.content_hash, call));
    if (isNew) deps.count({ kind: 'reader' });
    const path = `${basePath}/read/${token}`;
    const Location = query.format ? `${path}?format=${query.format}` : path;
    return reply(undefined, { headers: { ...personalHeaders, Location } });
  });

  const picture = handle(getReadingAsset, async ({ params: { token, asset_id: assetId }, call }) => {
    assertFewUnknownLinks(token, call);
    const { document } = await findLink(token, call);
    const request = { document, assetId, call, headers: personalHeaders, isPrivate: true };
    const found = await deps.readAsset(request);
    if (!found) throw linkNotFound;
    return found;
  });

  return [...[read, acknowledge].map((route) => withProblemPages(route, toProblemPage)), picture];

  function assertFewUnknownLinks(token: string, call: RequestInfo): void {
    const waitSeconds = limit.getWaitSeconds(call.address, toLimitKey(token));
    if (waitSeconds > 0) throw tooManyUnknownLinks(limit.policy, waitSeconds, personalHeaders);
  }

  /** Reads the rows that decide whether a link works; never cached, so that every change applies at once. */
  async function findLink(token: string, call: RequestInfo): Promise<PersonalLink> {
    const link = await deps.findPersonalLink(token);
    limit.record(link !== undefined, call.address, toLimitKey(token));
    if (!link) throw linkNotFound;
    return link;
  }

  /** Records the acknowledgement of a reader. Returns false if the reader has acknowledged this version. */
  function record(
    { reader, document }: PersonalLink,
    hash: string,
    contentHash: string,
    { requestId }: RequestInfo,
  ): Promise<boolean> {
    const actor = { organization_id: reader.organization_id, user_id: null, request_id: requestId };
    return deps.store.transact(actor, async (tx) => {
      const within = { ...actor, tx };
      const row = await deps.readers.findByHash(within, hash);
      const open = row && (await deps.requests.findOpen(within, row.family_id));
      if (!row || open?.request._id !== row.request_id) throw linkNotFound;
      const key = { request_id: row.request_id, person_id: row._id, document_id: document._id };
      const known = await deps.acknowledgements.find(within, key);
      if (known?.content_hash === contentHash) return false;
      const { _id: id, external_id } = row;
      const person = { id, kind: 'reader' as const, external_id };
      const made = { person, content_hash: contentHash, at: now() };
      await deps.readers.setAcknowledged(row, await recordAcknowledgement(deps, within, open, made), tx);
      return true;
    });
  }
}

/** The headers of a notice page. Any site may frame it, because it reveals nothing about an organization. */
const noticeHeaders = { 'Content-Security-Policy': pagePolicy(noticeStyleSource, '*') };

const toProblemPage: ProblemPage = (problem, call, { format }) =>
  wantsHtml(format, call)
    ? {
        html: noticePage(problem, call.requestId),
        headers: { ...personalHeaders, ...noticeHeaders, ...problem.headers },
      }
    : undefined;

/** The 404 of every invalid link, created once: a stack trace would cost more than the whole request. */
const linkNotFound = NotFound(undefined, { headers: personalHeaders });

function toLimitKey(token: string): string {
  return `read/${token}`;
}
