/** The small page that readers get instead of a document; one text for each kind of problem, or for its detail. */
import type { Problem, ProblemKind } from '#libs/contract';
import { NotFound, TooManyRequests, Unavailable } from '#libs/contract';
import { escapeHtml, html, joinHtml } from '#libs/rich-text';
import { ContentChanged } from '../../documents/contract.ts';
import { tooManyPasswords } from '../passwords/access.ts';
import { noticeStyle } from './styles.ts';

interface NoticeText {
  title: string;
  text: string;
  /** The text of a link to the same address. */
  again?: string;
}

const texts = new Map<ProblemKind, NoticeText>([
  [
    NotFound,
    {
      title: 'This link does not work',
      text: 'The link may be incomplete or deleted, or the document may no longer be published. Ask the person who sent it to you for a new link.',
    },
  ],
  [
    TooManyRequests,
    {
      title: 'Too many links that do not work',
      text: 'Your network address opened too many invalid links within a short time. Wait a minute, then open this link again.',
    },
  ],
  [
    Unavailable,
    {
      title: 'The document is temporarily unavailable',
      text: 'No data is lost. Try again in a moment.',
    },
  ],
  [
    ContentChanged,
    {
      title: 'The document has changed',
      text: 'The document was changed while you were reading. Your confirmation was not recorded. Open the document again: it says whether you can confirm it.',
      again: 'Open the document again',
    },
  ],
]);

const textsByDetail = new Map<string, NoticeText>([
  [
    tooManyPasswords,
    {
      title: 'Too many wrong passwords',
      text: 'A wrong password was entered too often within a short time. Open this link again later, with the right password.',
    },
  ],
]);

const defaultText: NoticeText = {
  title: 'The document cannot be shown',
  text: 'The request is not valid. Ask the person who sent you the link.',
};

/** Renders the page of a problem; for one kind and detail, only the request id differs. */
export function noticePage({ kind, message }: Problem, requestId: string): string {
  const { title, text, again } = textsByDetail.get(message) ?? texts.get(kind) ?? defaultText;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>${escapeHtml(title)}</title>
<meta name="robots" content="noindex"/>
<meta name="color-scheme" content="light dark"/>
<link rel="icon" href="data:,"/>
${noticeStyle}
</head>
<body>
<main class="notice">
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${
  again === undefined
    ? joinHtml([])
    : html`<p><a href="">${escapeHtml(again)}</a></p>
`
}<p class="request">Request ${escapeHtml(requestId)}</p>
</main>
</body>
</html>
`;
}
