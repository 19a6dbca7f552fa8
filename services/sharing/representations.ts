/** The two forms in which a public link answers: JSON for programs, a page for people. */
import { createHash } from 'node:crypto';
import { embedJson } from './embed-json.ts';
import { documentPage } from './page/document-page.ts';
import { pagePolicy } from './page/policy.ts';
import { specimen } from './page/renderer-fixture.ts';
import { pageStyleSource } from './page/styles.ts';
import { frameAncestors } from './rules.ts';
import type { DocumentState, NodeRow, OrganizationProfile } from './store.ts';

/** What a link opens, without its nodes. */
export interface OpenedLink {
  document: DocumentState;
  organization: OrganizationProfile;
}

/** A form in which a public link answers. */
export interface Representation {
  readonly type: string;
  /** A strong ETag: it names all that the bytes depend on, so it is the same on every replica. */
  getEtag(opened: OpenedLink): string;
  /** The text in pieces, so that other requests may be answered between them. */
  render(opened: OpenedLink, rows: readonly NodeRow[]): Iterable<string>;
  /** Headers that follow from the organization. */
  getHeaders(organization: OrganizationProfile): Record<string, string>;
}

/** The forms by the name that `?format=` takes. */
export const representations: Readonly<Record<'json' | 'html', Representation>> = {
  json: form({
    type: 'application/json',
    render: ({ document }, rows) => [embedJson(document, rows)],
    dependsOn: ({ document }) => [document._id, document.row_version],
    getHeaders: () => ({}),
  }),
  html: form({
    type: 'text/html; charset=utf-8',
    render: ({ document, organization }, rows) =>
      documentPage({ document, rows, organization: organization.name }),
    dependsOn: ({ document, organization }) => [document._id, document.row_version, organization.row_version],
    getHeaders: ({ embed_origins }) => ({
      'Content-Security-Policy': pagePolicy(pageStyleSource, frameAncestors(embed_origins)),
    }),
  }),
};

/** The renderer is named by what it makes of a specimen: another version of the code gives other ETags. */
function form({
  dependsOn,
  ...of
}: Omit<Representation, 'getEtag'> & { dependsOn(opened: OpenedLink): (string | number)[] }): Representation {
  const renderer = tagOf([...of.render(specimen, specimen.rows)]);
  return { ...of, getEtag: (opened) => tagOf([renderer, ...dependsOn(opened)]) };
}

/** 27 characters of base64url: 160 bits of a SHA-256. */
function tagOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}
