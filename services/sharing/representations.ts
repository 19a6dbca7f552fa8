/** The two representations of a public link: JSON for programs, an HTML page for readers. */
import { createHash } from 'node:crypto';
import { documentPage, getPageLanguage, getStyleSources, pagePolicy } from '#libs/html-page';
import { escapeHtml, type FindPicture, getAssetId } from '#libs/rich-text';
import { groupByParent } from '../documents/contract.ts';
import { markAddresses } from './asset-addresses.ts';
import { embedJson } from './embed-json.ts';
import { controlledFixture, rendererFixture } from './page/renderer-fixture.ts';
import { frameAncestors, getControl } from './rules/links.ts';
import type { LinkControls } from './store/collections.ts';
import type { LinkDocument, OrganizationProfile } from './store/public-links.ts';
import type { NodeRow } from './store/share-tokens.ts';

/** The document that a link shows, without its nodes, its organization and its controls. */
export interface ResolvedLink {
  document: LinkDocument;
  organization: OrganizationProfile;
  storedToken: LinkControls;
  /** The public URL of the application, which the addresses of assets start with. */
  appUrl?: string;
}

/** The sizes of assets in pixels, by id. */
export type AssetSizes = ReadonlyMap<string, { width: number; height: number }>;

/** A representation of a document (RFC 9110, 3.2). */
export interface Representation {
  /** The value of `Content-Type`. */
  readonly type: string;
  /**
   * The strong ETag. It covers everything that the bytes depend on, except the slug and the token, so it is the same on
   * every replica.
   */
  getEtag(link: ResolvedLink): string;
  /**
   * Renders text in pieces, so that other requests can run in between. The addresses of assets are marked, see
   * `fillAddresses`.
   */
  render(link: ResolvedLink, rows: readonly NodeRow[], assets?: AssetSizes): Iterable<string>;
  /** Escapes an address for the text. */
  escape(address: string): string;
  /** The response headers that depend on the link. `assetAddress` is the address of its assets if it shows any. */
  getHeaders(link: ResolvedLink, assetAddress?: string): Record<string, string>;
}

/** The representations by the value of `?format=`. */
export const representations: Readonly<Record<'json' | 'html', Representation>> = {
  json: createRepresentation({
    type: 'application/json',
    render: ({ document, organization }, rows, { address }) => [
      embedJson(document, rows, { control: getControl(document, organization), assetAddress: address }),
    ],
    escape: (address) => JSON.stringify(address).slice(1, -1),
    dependsOn: ({ document }) => [document._id, document.row_version],
    getHeaders: () => ({}),
  }),
  html: createRepresentation({
    type: 'text/html; charset=utf-8',
    render: (link, rows, { assets, address }) =>
      documentPage({
        ...getPageFields(link),
        children: groupByParent(rows),
        findPicture: createPictureFinder(assets, address),
      }),
    escape: escapeHtml,
    dependsOn: ({ document, organization, storedToken: { allowed_origins } }) => [
      ...[document._id, document.row_version, organization.row_version],
      ...(allowed_origins ? [`frames ${allowed_origins.join(' ')}`] : []),
    ],
    getHeaders: (link, pictureSource) => {
      const sources = getStyleSources(getPageFields(link));
      return {
        'Content-Security-Policy': pagePolicy(sources, getFrameAncestors(link), { pictureSource }),
      };
    },
  }),
};

/** The `frame-ancestors` sources of a link: its own origins, else those of its organization. */
export function getFrameAncestors({
  storedToken,
  organization,
}: Pick<ResolvedLink, 'storedToken' | 'organization'>): string {
  return frameAncestors(storedToken.allowed_origins ?? organization.embed_origins);
}

/** What a page shows besides its nodes. The language is that of the document, else that of the organization. */
export function getPageFields({ document, organization }: ResolvedLink) {
  const language = getPageLanguage(document.language ?? organization.language);
  const control = getControl(document, organization);
  return { document, organization: organization.name, control, language };
}

/** Creates the function that finds the pictures of a page. `address` comes before the id of each asset. */
export function createPictureFinder(assets: AssetSizes, address: string): FindPicture {
  return (src) => {
    const id = getAssetId(src);
    const size = id === undefined ? undefined : assets.get(id);
    return size && { src: `${address}${id}`, ...size };
  };
}

/**
 * Adds the ETag. It includes a hash of the rendered fixture, so a new renderer changes all ETags. With `show_control`,
 * the fixture shows approval and review, too.
 */
function createRepresentation({
  dependsOn,
  render: renderWith,
  ...base
}: Omit<Representation, 'getEtag' | 'render'> & {
  dependsOn(link: ResolvedLink): (string | number)[];
  /** `address` comes before the id of each asset. */
  render(
    link: ResolvedLink,
    rows: readonly NodeRow[],
    options: { assets: AssetSizes; address: string },
  ): Iterable<string>;
}): Representation {
  const render: Representation['render'] = (link, rows, assets = noAssets) =>
    assets.size === 0
      ? renderWith(link, rows, { assets, address: '' })
      : markAddresses((address) => renderWith(link, rows, { assets, address }));
  const [plain, controlled] = [rendererFixture, controlledFixture].map((fixture) =>
    createTag([...render(fixture, fixture.rows, fixture.assets)]),
  );
  return {
    ...base,
    render,
    getEtag(link) {
      const version = link.organization.show_control ? controlled : plain;
      return createTag([version ?? '', link.appUrl ?? '', ...dependsOn(link)]);
    },
  };
}

const noAssets: AssetSizes = new Map();

/** The first 27 characters of a SHA-256 in base64url, about 160 bits. */
export function createTag(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}
