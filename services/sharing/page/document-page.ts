/** The page for people: a published document as HTML that needs no script, nothing from elsewhere and no style but its own. */
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';
import type { DocumentState, NodeRow } from '../store.ts';
import { childrenOf } from '../tree.ts';
import { contents } from './contents.ts';
import { nodes } from './nodes.ts';
import { pageStyle } from './styles.ts';
import { dayOf, momentOf } from './times.ts';

/** What a page shows. */
export interface Shown {
  document: DocumentState;
  rows: readonly NodeRow[];
  /** The name of the organization. */
  organization: string;
}

/** The page in pieces, so that other requests may be answered between them. */
export function* documentPage({ document, rows, organization }: Shown): Generator<Html> {
  const children = childrenOf(rows);
  yield html`<!DOCTYPE html>
<html lang="en">
<head>
${head(document, organization)}
</head>
<body>
<a class="skip" href="#document">Skip to the document</a>
<header class="masthead"><p>${escapeHtml(organization)}</p></header>
<div class="sheet">
${contents(children)}
<main id="document" tabindex="-1">
<article dir="auto">
${title(document)}
`;
  yield* nodes(children);
  yield html`</article>
</main>
</div>
${footer(document, organization)}
</body>
</html>
`;
}

function head(document: DocumentState, organization: string): Html {
  const name = escapeHtml(document.title);
  const site = escapeHtml(organization);
  const about = escapeHtml(
    [organization, document.version && `Version ${document.version}`, document.department]
      .filter(Boolean)
      .join(' · '),
  );
  return html`<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>${name} · ${site}</title>
<meta name="description" content="${about}"/>
<meta name="robots" content="noindex"/>
<meta name="color-scheme" content="light dark"/>
<meta property="og:type" content="article"/>
<meta property="og:title" content="${name}"/>
<meta property="og:site_name" content="${site}"/>
<meta property="og:description" content="${about}"/>
<link rel="icon" href="data:,"/>
${pageStyle}`;
}

function title(document: DocumentState): Html {
  const { department, published_at } = document;
  const facts = [
    ...fact('Version', document.version && escapeHtml(document.version)),
    ...fact('Department', department && escapeHtml(department)),
    ...fact('Last published', published_at && day(published_at)),
  ];
  return html`<header class="title">
<h1>${escapeHtml(document.title)}</h1>
<dl class="facts">${joinHtml(facts)}</dl>
</header>`;
}

function fact(name: string, value: Html | '' | null): Html[] {
  return value ? [html`<div><dt>${escapeHtml(name)}</dt><dd>${value}</dd></div>`] : [];
}

function day(at: Date): Html {
  return html`<time datetime="${escapeHtml(at.toISOString())}" title="${escapeHtml(momentOf(at))}">${escapeHtml(dayOf(at))}</time>`;
}

function footer(document: DocumentState, organization: string): Html {
  const { published_at } = document;
  const published = published_at
    ? html` Last published ${escapeHtml(momentOf(published_at))}.`
    : joinHtml([]);
  return html`<footer class="colophon">
<p>${escapeHtml(organization)}.${published}</p>
<p class="on-screen">This link always shows the latest published version.</p>
<p class="on-paper">A printed copy shows the version of its day; the link shows the latest published version.</p>
</footer>`;
}
