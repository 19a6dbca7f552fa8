/** The two representations of a personal link. What is the same for all readers of a document is rendered once. */
import { documentPage, getPageLanguage, getStyleSources, pagePolicy } from '#libs/html-page';
import { escapeHtml, html } from '#libs/rich-text';
import { groupByParent } from '../../documents/contract.ts';
import { markAddresses } from '../asset-addresses.ts';
import { acknowledgementForm, type ReaderInput, readerBanner } from '../page/acknowledgement.ts';
import { controlledFixture, rendererFixture } from '../page/renderer-fixture.ts';
import { acknowledgementStyle, acknowledgementStyleSource } from '../page/styles.ts';
import {
  type AssetSizes,
  createPictureFinder,
  createTag,
  getPageFields,
  representations,
} from '../representations.ts';
import { frameAncestors } from '../rules/links.ts';
import type { PersonalLink } from '../store/personal-links.ts';
import type { NodeRow } from '../store/share-tokens.ts';
import { getAcknowledgedAt, toReadingState } from './presenters.ts';

/** A representation of a document for one reader. */
export interface Reading {
  /** The value of `Content-Type`. */
  readonly type: string;
  /** The strong ETag. It covers everything that the bytes depend on, so it is the same on every replica. */
  getEtag(link: PersonalLink): string;
  /** Identifies what `render` returns: the same for all readers. */
  getCacheKey(link: PersonalLink): string;
  /** Renders in pieces what is the same for all readers, with marked addresses of assets (`fillAddresses`). */
  render(link: PersonalLink, rows: readonly NodeRow[], assets?: AssetSizes): Iterable<string>;
  /** Escapes an address for the text. */
  escape(address: string): string;
  /** Adds what is of one reader to the rendered bytes. */
  personalize(link: PersonalLink, bytes: Uint8Array): Uint8Array;
  /** The response headers that depend on the link. `assetAddress` is the address of its assets if it shows any. */
  getHeaders(link: PersonalLink, assetAddress?: string): Record<string, string>;
}

/** Where the page of a reader has its additions. No text of a document contains it: its `<` is escaped. */
const [topMark, endMark] = [html`<!--reader-->`, html`<!--acknowledgement-->`];

/** The representations by the value of `?format=`. */
export const readings: Readonly<Record<'json' | 'html', Reading>> = {
  json: {
    type: 'application/json',
    getEtag: (link) => createTag(['reading', getJsonKey(link), ...listPersonal(link), link.request.due_days]),
    getCacheKey: getJsonKey,
    render: ({ document, organization }, rows, assets) =>
      representations.json.render({ document, organization, storedToken: {} }, rows, assets),
    escape: representations.json.escape,
    personalize({ reader, request, document }, bytes) {
      const state = JSON.stringify(toReadingState(reader, request, document));
      return Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,"acknowledgement":${state}}`)]);
    },
    getHeaders: () => ({}),
  },
  html: {
    type: 'text/html; charset=utf-8',
    getEtag: (link) => createTag([getPageKey(link), ...listPersonal(link)]),
    getCacheKey: getPageKey,
    render: ({ document, organization }, rows, assets = new Map()) =>
      markAddresses((address) =>
        documentPage({
          ...getPageFields({ document, organization, storedToken: {} }),
          ...{ children: groupByParent(rows), findPicture: createPictureFinder(assets, address) },
          additions: { style: acknowledgementStyle, top: topMark, end: endMark },
        }),
      ),
    escape: escapeHtml,
    personalize: (link, bytes) => insertReader(toReaderInput(link), bytes),
    getHeaders({ document, organization }, pictureSource) {
      const fields = getPageFields({ document, organization, storedToken: {} });
      const styles = `${getStyleSources(fields)} ${acknowledgementStyleSource}`;
      // any site could frame the page and lay its own words over the button
      const frames = frameAncestors(organization.embed_origins ?? []);
      const options = { formAction: "'self'", pictureSource };
      return { 'Content-Security-Policy': pagePolicy(styles, frames, options) };
    },
  },
};

function getJsonKey({ document, organization }: PersonalLink): string {
  return representations.json.getEtag({ document, organization, storedToken: {} });
}

function getPageKey({ document, organization }: PersonalLink): string {
  return createTag([pageVersion, document._id, document.row_version, organization.row_version]);
}

/** What the bytes of one reader depend on, besides the document, its organization and the due days. */
function listPersonal({ reader, request, document }: PersonalLink): string[] {
  return [request._id, reader._id, String(getAcknowledgedAt(reader, document)?.getTime() ?? '')];
}

function toReaderInput({ reader, request, document, organization }: PersonalLink): ReaderInput {
  return {
    ...{ name: reader.name, statement: request.statement },
    contentHash: document.content_hash ?? null,
    acknowledgedAt: getAcknowledgedAt(reader, document),
    language: getPageLanguage(document.language ?? organization.language),
  };
}

function insertReader(input: ReaderInput, bytes: Uint8Array): Uint8Array {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [top, end] = [page.indexOf(topMark), page.lastIndexOf(endMark)];
  return Buffer.concat([
    page.subarray(0, top),
    Buffer.from(readerBanner(input)),
    page.subarray(top + topMark.length, end),
    Buffer.from(acknowledgementForm(input)),
    page.subarray(end + endMark.length),
  ]);
}

/** A hash of what the renderer writes for a fixture in each state, so that a new renderer changes all ETags. */
const pageVersion = createTag([
  ...[rendererFixture, controlledFixture].flatMap((fixture) => [
    ...representations.html.render({ ...fixture, storedToken: {} }, fixture.rows, fixture.assets),
  ]),
  ...[
    { contentHash: 'sha256:', acknowledgedAt: undefined },
    { contentHash: null, acknowledgedAt: undefined },
    { contentHash: 'sha256:', acknowledgedAt: new Date(0) },
  ].flatMap((state) => {
    const input = { name: 'Ada', statement: 'I have read it.', language: getPageLanguage('en'), ...state };
    return [acknowledgementStyle, readerBanner(input), acknowledgementForm(input)];
  }),
]);
