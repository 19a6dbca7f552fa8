/** Renders a document as an HTML page without scripts and external resources. */
import { escapeHtml, type FindPicture, type Html, html, joinHtml, style } from '#libs/rich-text';
import { tableOfContents } from './contents.ts';
import { isolate, type PageLanguage } from './language.ts';
import { findNodesDirection, nodes } from './nodes.ts';
import { getStatusWord, type PageControl, type PageDocument, type PageNodes } from './page-document.ts';
import { runningHead } from './running-head.ts';
import { pageStyle } from './styles.ts';

/** The content of a page. */
export interface PageInput {
  document: PageDocument;
  children: PageNodes;
  /** The organization's name. */
  organization: string;
  /** Approval and next review. Undefined if the organization does not show them. */
  control: PageControl | undefined;
  language: PageLanguage;
  /** Finds the pictures that are not embedded. */
  findPicture: FindPicture;
  /** What a page for one reader adds. */
  additions?: PageAdditions;
}

/** What a page adds to that of the document. */
export interface PageAdditions {
  /** Before the style sheets. */
  meta?: Html;
  /** A `<style>` element. */
  style?: Html;
  /** Below the facts. */
  top?: Html;
  /** Below the document. */
  end?: Html;
  /** How current the page is, on screens and on paper, instead of what is said of a link. */
  notes?: { onScreen: string; onPaper: string };
}

/** Renders the page in pieces, so that other requests can run in between. */
export function* documentPage(input: PageInput): Generator<Html> {
  const { language, organization, children, findPicture, additions } = input;
  const { words } = language;
  const { onScreen, onPaper } = additions?.notes ?? words;
  const contents = tableOfContents(children, words);
  const foreign = markForeignWords(language);
  yield html`<!DOCTYPE html>
<html lang="${escapeHtml(language.tag)}" dir="${escapeHtml(language.direction)}">
<head>
${head(input)}
</head>
<body>
<a class="skip" href="#document"${foreign}>${escapeHtml(words.skip)}</a>
${masthead(input, contents !== '')}
<main class="sheet">
${title(input)}
${contents}
<article id="document" tabindex="-1" dir="auto">
`;
  yield* nodes(children, { words, direction: findNodesDirection(children), findPicture });
  yield html`${additions?.end ?? nothing}</article>
</main>
<footer class="colophon">
<p>${escapeHtml(isolate(organization, language))}${publishedAt(input)}</p>
<p class="on-screen"${foreign}>${escapeHtml(onScreen)}</p>
<p class="on-paper"${foreign}>${escapeHtml(onPaper)}</p>
</footer>
</body>
</html>
`;
}

/** Browsers that cannot print the running head print the title of the page, so it has the version, too. */
function head({ document, organization, language, additions }: PageInput): Html {
  const version = getVersion(document, language);
  const name = escapeHtml(document.title);
  const full = escapeHtml([document.title, version, organization].filter(Boolean).join(' · '));
  const about = escapeHtml([organization, version, document.department].filter(Boolean).join(' · '));
  return html`<meta charset="utf-8"/>
${additions?.meta ?? nothing}<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>${full}</title>
<meta name="description" content="${about}"/>
<meta name="robots" content="noindex"/>
<meta name="color-scheme" content="light dark"/>
<meta property="og:type" content="article"/>
<meta property="og:title" content="${name}"/>
<meta property="og:site_name" content="${escapeHtml(organization)}"/>
<meta property="og:description" content="${about}"/>
<link rel="icon" href="data:,"/>
${pageStyle}
${style(runningHead({ document, organization, language }))}${additions?.style ?? nothing}`;
}

/** Screen readers skip the title in the bar: it repeats the heading. */
function masthead({ document, organization, language }: PageInput, hasContents: boolean): Html {
  const version = getVersion(document, language);
  const foreign = markForeignWords(language);
  const link = html`<a class="to-contents" href="#contents"${foreign}>${escapeHtml(language.words.contents)}</a>`;
  return html`<header class="masthead"><p class="organization">${escapeHtml(organization)}</p>
<p class="running" aria-hidden="true"><span>${escapeHtml(document.title)}</span>${version ? html` <span>${escapeHtml(version)}</span>` : nothing}</p>
${hasContents ? link : nothing}</header>`;
}

/** The dates of approval and review do not depend on the clock: the page never says that a review is overdue. */
function title({ document, control, language, additions }: PageInput): Html {
  const { department, published_at, version } = document;
  const { words } = language;
  const foreign = markForeignWords(language);
  const fact = (name: string, value: Html | '' | null | undefined): Html =>
    value ? html`<div><dt${foreign}>${escapeHtml(name)}</dt><dd>${value}</dd></div>` : nothing;
  const status = getStatusWord(document, words);
  const facts = [
    fact(words.status, status && escapeHtml(status)),
    fact(words.version, version && escapeHtml(version)),
    fact(words.department, department && escapeHtml(department)),
    fact(words.published, published_at && day(published_at, language)),
    fact(words.approvedOn, control?.approved_at ? day(control.approved_at, language) : null),
    fact(words.nextReviewBy, control?.review_due_at ? day(control.review_due_at, language) : null),
  ];
  return html`<header class="title">
<h1>${escapeHtml(document.title)}</h1>
<dl class="facts">${joinHtml(facts)}</dl>
${additions?.top ?? nothing}</header>`;
}

function getVersion({ version }: PageDocument, { words }: PageLanguage): string | null {
  return version && `${words.version} ${version}`;
}

/** A day as the page shows it, with the minute as its title. */
export function day(at: Date, { formatDay, formatMinute }: PageLanguage): Html {
  return html`<time datetime="${escapeHtml(at.toISOString())}" title="${escapeHtml(formatMinute(at))}">${escapeHtml(formatDay(at))}</time>`;
}

function publishedAt({ document: { published_at }, language }: PageInput): Html {
  if (!published_at) return nothing;
  const minute = isolate(language.formatMinute(published_at), language);
  return escapeHtml(` · ${isolate(`${language.words.published}: ${minute}`, language)}`);
}

/** The attributes of an element with words of the page that are not in the language of the document. */
export function markForeignWords({ hasForeignWords }: PageLanguage): Html {
  return hasForeignWords ? html` lang="en" dir="ltr"` : nothing;
}

const nothing = joinHtml([]);
