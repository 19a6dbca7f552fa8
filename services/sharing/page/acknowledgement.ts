/** What the page for one reader adds to the document: who reads it, what to confirm, and a button or the date. */
import { day, markForeignWords, type PageLanguage } from '#libs/html-page';
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';

/** What a reader is asked. */
export interface ReaderInput {
  name: string;
  statement: string;
  /** The hash of the words on the page; null if they cannot be confirmed. */
  contentHash: string | null;
  /** When the reader confirmed; undefined if not yet. */
  acknowledgedAt: Date | undefined;
  language: PageLanguage;
}

/** Below the title: the name of the reader, with the date or a link to the form. */
export function readerBanner({ name, acknowledgedAt, language }: ReaderInput): Html {
  const foreign = markForeignWords(language);
  const { toAcknowledgement } = language.words;
  const toForm = html`<p${foreign}><a href="#acknowledgement">${escapeHtml(toAcknowledgement)}</a></p>`;
  return html`<div class="reader">
<p class="name"><bdi>${escapeHtml(name)}</bdi></p>
${acknowledgedAt ? done(acknowledgedAt, language) : toForm}
</div>
`;
}

/**
 * Below the document: the statement, and the form or the date. The form goes to the address of the page; its fragment
 * survives the redirect, so the reader sees the date next.
 */
export function acknowledgementForm(input: ReaderInput): Html {
  const { name, statement, language } = input;
  const { words } = language;
  const foreign = markForeignWords(language);
  return html`<section class="acknowledgement" id="acknowledgement" aria-labelledby="acknowledgement-title">
<h2 id="acknowledgement-title"${foreign}>${escapeHtml(words.acknowledgement)}</h2>
<dl><dt${foreign}>${escapeHtml(words.reader)}</dt><dd><bdi>${escapeHtml(name)}</bdi></dd></dl>
<p class="statement" dir="auto">${escapeHtml(statement)}</p>
${outcome(input)}
</section>
`;
}

function outcome({ contentHash, acknowledgedAt, language }: ReaderInput): Html {
  const { words } = language;
  const foreign = markForeignWords(language);
  if (acknowledgedAt) return done(acknowledgedAt, language);
  if (contentHash === null) return html`<p${foreign}>${escapeHtml(words.notAcknowledgeable)}</p>`;
  return joinHtml([
    html`<form method="post" action="#acknowledgement"><input type="hidden" name="content_hash" value="`,
    html`${escapeHtml(contentHash)}"/><button${foreign}>${escapeHtml(words.acknowledge)}</button></form>`,
  ]);
}

function done(at: Date, language: PageLanguage): Html {
  const foreign = markForeignWords(language);
  return html`<p class="done"><span${foreign}>${escapeHtml(language.words.acknowledgedOn)}</span> ${day(at, language)}</p>`;
}
