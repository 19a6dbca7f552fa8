/** The two representations of a public link: JSON for programs, an HTML page for readers. */
import { createHash } from 'node:crypto';
import { embedJson } from './embed-json.ts';
import { documentPage } from './page/document-page.ts';
import { getPageLanguage } from './page/language.ts';
import { pagePolicy } from './page/policy.ts';
import { controlledFixture, rendererFixture } from './page/renderer-fixture.ts';
import { runningHead } from './page/running-head.ts';
import { pageStyleSource, toHashSource } from './page/styles.ts';
import { frameAncestors, getControl } from './rules/links.ts';
import type { DocumentState, LinkControls, NodeRow, OrganizationProfile } from './store/share-tokens.ts';

/** The document that a link shows, without its nodes, its organization and its controls. */
export interface ResolvedLink {
  document: DocumentState;
  organization: OrganizationProfile;
  storedToken: LinkControls;
}

/** A representation of a document (RFC 9110, 3.2). */
export interface Representation {
  /** The value of `Content-Type`. */
  readonly type: string;
  /** The strong ETag. It covers everything that the bytes depend on, so it is the same on every replica. */
  getEtag(link: ResolvedLink): string;
  /** Renders text in pieces, so that other requests can run in between. */
  render(link: ResolvedLink, rows: readonly NodeRow[]): Iterable<string>;
  /** The response headers that depend on the link. */
  getHeaders(link: ResolvedLink): Record<string, string>;
}

/** The representations by the value of `?format=`. */
export const representations: Readonly<Record<'json' | 'html', Representation>> = {
  json: createRepresentation({
    type: 'application/json',
    render: ({ document, organization }, rows) => [
      embedJson(document, rows, getControl(document, organization)),
    ],
    dependsOn: ({ document }) => [document._id, document.row_version],
    getHeaders: () => ({}),
  }),
  html: createRepresentation({
    type: 'text/html; charset=utf-8',
    render: (link, rows) => documentPage({ ...getPageFields(link), rows }),
    dependsOn: ({ document, organization, storedToken: { allowed_origins } }) => [
      ...[document._id, document.row_version, organization.row_version],
      ...(allowed_origins ? [`frames ${allowed_origins.join(' ')}`] : []),
    ],
    getHeaders: (link) => {
      const sources = `${pageStyleSource} ${toHashSource(runningHead(getPageFields(link)))}`;
      return {
        'Content-Security-Policy': pagePolicy(sources, getFrameAncestors(link)),
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

/**
 * Adds the ETag. It includes a hash of the rendered fixture, so a new renderer changes all ETags. With `show_control`,
 * the fixture shows approval and review, too.
 */
function createRepresentation({
  dependsOn,
  ...base
}: Omit<Representation, 'getEtag'> & {
  dependsOn(link: ResolvedLink): (string | number)[];
}): Representation {
  const [plain, controlled] = [rendererFixture, controlledFixture].map((fixture) =>
    createTag([...base.render(fixture, fixture.rows)]),
  );
  return {
    ...base,
    getEtag(link) {
      const version = link.organization.show_control ? controlled : plain;
      return createTag([version ?? '', ...dependsOn(link)]);
    },
  };
}

/** The first 27 characters of a SHA-256 in base64url, about 160 bits. */
export function createTag(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}
