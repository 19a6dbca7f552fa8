/** Renders a published document as an HTML page without scripts and external resources. */
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';
import { groupByParent } from '../../documents/contract.ts';
import type { DocumentState, NodeRow } from '../store.ts';
import { tableOfContents } from './contents.ts';
import { nodes } from './nodes.ts';
import { pageStyle } from './styles.ts';
import { formatDay, formatMinute } from './times.ts';

/** The content of a page. */
export interface PageInput {
  document: DocumentState;
  rows: readonly NodeRow[];
  /** The organization's name. */
  organization: string;
}

/** Renders the page in pieces, so that other requests can run in between. */
export function* documentPage({ document, rows, organization }: PageInput): Generator<Html> {
  const children = groupByParent(rows);
  yield html`<!DOCTYPE html>
<html lang="en">
<head>
${head(document, organization)}
</head>
<body>
<a class="skip" href="#document">Skip to the document</a>
<header class="masthead"><p>${escapeHtml(organization)}</p></header>
<div class="sheet">
${tableOfContents(children)}
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
  return html`<time datetime="${escapeHtml(at.toISOString())}" title="${escapeHtml(formatMinute(at))}">${escapeHtml(formatDay(at))}</time>`;
}

function footer(document: DocumentState, organization: string): Html {
  const { published_at } = document;
  const published = published_at
    ? html` Last published ${escapeHtml(formatMinute(published_at))}.`
    : joinHtml([]);
  return html`<footer class="colophon">
<p>${escapeHtml(organization)}.${published}</p>
<p class="on-screen">This link always shows the latest published version.</p>
<p class="on-paper">A printed copy shows the version at the time of printing. The link shows the latest published version.</p>
</footer>`;
}
