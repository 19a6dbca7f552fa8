/** Serves the document of a public link to everyone who has the link and its password, as JSON or as an HTML page. */
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
import { fillAddresses } from './asset-addresses.ts';
import {
  getEmbeddedAsset,
  getEmbeddedDocument,
  SharePasswordRequired,
  submitSharePassword,
} from './contract.ts';
import { createPictureDetector, type ReadAsset } from './link-assets.ts';
import type { CountResponse } from './metrics.ts';
import type { NotFoundLimit } from './not-found-limit.ts';
import { noticePage } from './page/notice.ts';
import { passwordPage } from './page/password-page.ts';
import { noticeStyleSource } from './page/styles.ts';
import {
  cookieChallenge,
  type LinkAccess,
  type ProtectedRequest,
  wrongPassword,
} from './passwords/access.ts';
import { protectedHeaders, publicHeaders } from './public-headers.ts';
import { createRenderer, maxAttempts, tooManyUnknownLinks } from './rendering.ts';
import { getFrameAncestors, type ResolvedLink, representations } from './representations.ts';
import { hashToken, resolveLink, wantsHtml } from './rules/links.ts';
import type { LinkToken } from './store/public-links.ts';
import type { SharingStore } from './store/share-tokens.ts';

/** Dependencies and settings of the embed routes. */
export interface EmbedOptions {
  sharing: Pick<SharingStore, 'findLink' | 'document' | 'nodes' | 'assetSizes' | 'referencesAsset'>;
  readAsset: ReadAsset;
  /** The cache of rendered documents. */
  cache: RenderCache;
  limit: NotFoundLimit;
  access: LinkAccess;
  /** Public URL of the application, without a trailing slash; public links start with it. */
  appUrl: string;
  now: () => Date;
  countResponse: CountResponse;
}

/** The parts of a public link. */
interface LinkParams {
  org_slug: string;
  token: string;
}

/** A link that works, with its token. */
type FoundLink = ResolvedLink & { storedToken: LinkToken };

/** The headers of a 503 for a document that changed in every attempt. */
const retryHeaders = { ...publicHeaders, 'Retry-After': '1' };

/** The headers of a notice page. Any site may frame it, because it reveals nothing about an organization. */
const noticeHeaders = {
  ...publicHeaders,
  'Content-Security-Policy': pagePolicy(noticeStyleSource, '*'),
};

/**
 * The routes of public links. One checks the link, then returns the document as JSON or HTML; the other takes the
 * password that a reader entered.
 */
export function embedRoutes(options: EmbedOptions): Route[] {
  const { sharing, cache, limit, access, now, appUrl } = options;
  const render = createRenderer(sharing);
  const hasPicturesIn = createPictureDetector(sharing);
  const basePath = new URL(appUrl).pathname.replace(/\/$/, '');

  const embed = handle(getEmbeddedDocument, async ({ params, query, call }) => {
    assertFewUnknownLinks(params, call);
    const format = wantsHtml(query.format, call) ? 'html' : 'json';
    const representation = representations[format];
    const open = async () => {
      const link = await findLink(params, call);
      const request = toProtectedRequest(link, call);
      // before the ETag, which would tell whether the document has changed
      if (request) await access.assertAccess(request);
      return {
        ...{ link, etag: representation.getEtag(link) },
        render: () => render(link.document, (rows, assets) => representation.render(link, rows, assets)),
      };
    };
    const found = await cache.read({ open, call, maxAttempts });
    if (!found) throw Unavailable('The document is being changed. Try again.', { headers: retryHeaders });
    options.countResponse({ format, cache: found.cacheStatus });
    const { link, etag } = found.version;
    const address = `${appUrl}/embed/${params.org_slug}/${params.token}/assets/`;
    const hasPictures = await hasPicturesIn(link.document._id, found);
    const { headers: linkHeaders, isPrivate } = getLinkHeaders(link);
    const headers = { ...linkHeaders, ...representation.getHeaders(link, hasPictures ? address : undefined) };
    const bytes = hasPictures ? fillAddresses(found.bytes, representation.escape(address)) : found.bytes;
    return reply(createBody(representation.type, bytes), { etag, headers, isPrivate });
  });

  const picture = handle(getEmbeddedAsset, async ({ params, call }) => {
    assertFewUnknownLinks(params, call);
    const link = await findLink(params, call);
    const secured = toProtectedRequest(link, call);
    if (secured) await access.assertAccess({ ...secured, challenge: cookieChallenge });
    const { headers, isPrivate } = getLinkHeaders(link);
    const request = { document: link.document, assetId: params.asset_id, call, headers, isPrivate };
    const found = await options.readAsset(request);
    if (!found) throw NotFound(undefined, { headers });
    return found;
  });

  const submit = handle(submitSharePassword, async ({ params, query, body, call }) => {
    assertFewUnknownLinks(params, call);
    const link = await findLink(params, call);
    const path = `${basePath}/embed/${params.org_slug}/${params.token}`;
    const Location = query.format ? `${path}?format=${query.format}` : path;
    const headers = { ...publicHeaders, Location };
    const request = toProtectedRequest(link, call);
    // the password was removed while the reader entered it
    if (!request) return reply(undefined, { headers });
    const cookie = await access.createCookie(request, body.password, path);
    return reply(undefined, { headers: { ...headers, 'Set-Cookie': cookie } });
  });

  return [...[embed, submit].map((route) => withProblemPages(route, toProblemPage)), picture];

  function assertFewUnknownLinks(params: LinkParams, call: RequestInfo): void {
    const waitSeconds = limit.getWaitSeconds(call.address, toLimitKey(params));
    if (waitSeconds > 0) throw tooManyUnknownLinks(limit.policy, waitSeconds, publicHeaders);
  }

  /** Reads the rows that decide whether a link works; never cached, so that every change applies at once. */
  async function findLink(params: LinkParams, call: RequestInfo): Promise<FoundLink> {
    const hash = hashToken(params.token);
    const link = resolveLink({ hash, ...(await sharing.findLink(params.org_slug, hash)), now: now() });
    limit.record(link !== undefined, call.address, toLimitKey(params));
    if (!link) throw linkNotFound;
    return { ...link, appUrl };
  }
}

/** The headers of all responses of a link, and whether shared caches must not store them. */
function getLinkHeaders({ storedToken }: FoundLink) {
  const isPrivate = storedToken.password_hash !== undefined;
  return { headers: isPrivate ? protectedHeaders : publicHeaders, isPrivate };
}

/** What decides about access; undefined if the link has no password. */
function toProtectedRequest(link: FoundLink, call: RequestInfo): ProtectedRequest | undefined {
  const { hash, password_hash } = link.storedToken;
  if (password_hash === undefined) return undefined;
  return { link: { hash, password_hash }, frames: getFrameAncestors(link), call };
}

/** The page of a problem, for browsers. */
const toProblemPage: ProblemPage = (problem, call, { format }) => {
  if (!wantsHtml(format, call)) return undefined;
  if (problem.kind !== SharePasswordRequired)
    return { html: noticePage(problem, call.requestId), headers: { ...noticeHeaders, ...problem.headers } };
  return {
    html: passwordPage({ isWrong: problem.message === wrongPassword }),
    headers: { ...problem.headers, 'WWW-Authenticate': cookieChallenge },
  };
};

/** The 404 of every invalid link, created once: a stack trace would cost more than the whole request. */
const linkNotFound = NotFound(undefined, { headers: publicHeaders });

function toLimitKey({ org_slug, token }: LinkParams): string {
  return `${org_slug}/${token}`;
}
