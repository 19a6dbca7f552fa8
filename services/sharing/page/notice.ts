/** The small page that readers get instead of a document: one for each kind of problem, whatever its cause. */
import type { ProblemKind } from '#libs/contract';
import { NotFound, TooManyRequests, Unavailable } from '#libs/contract';
import { escapeHtml, html } from '#libs/rich-text';
import { noticeStyle } from './styles.ts';

interface Words {
  title: string;
  text: string;
}

const words = new Map<ProblemKind, Words>([
  [
    NotFound,
    {
      title: 'This link leads nowhere',
      text: 'It may be incomplete, it may have been ended, or the document is no longer published. Ask the people who gave it to you for a new one.',
    },
  ],
  [
    TooManyRequests,
    {
      title: 'Too many links that lead nowhere',
      text: 'They came from your network address within a short time. Wait a minute, then open this link again.',
    },
  ],
  [
    Unavailable,
    {
      title: 'The document cannot be shown right now',
      text: 'Nothing is lost. Try again in a moment.',
    },
  ],
]);

const otherwise: Words = {
  title: 'The document cannot be shown',
  text: 'Something about this request is not right. Ask the people who gave you the link.',
};

/** The page that tells of a problem; only the request id differs from one to the next. */
export function noticePage(kind: ProblemKind, requestId: string): string {
  const { title, text } = words.get(kind) ?? otherwise;
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
<p class="request">Request ${escapeHtml(requestId)}</p>
</main>
</body>
</html>
`;
}
