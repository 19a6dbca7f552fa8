/** The page that asks for the password of a public link. It shows nothing of the document or its organization. */
import { html, joinHtml } from '#libs/rich-text';
import { passwordStyle } from './styles.ts';

const wrong = html`<p class="wrong" id="wrong" role="alert">This password is wrong. Check capital letters, then enter it again.</p>
`;

/**
 * Renders the page. The form has no `action`, so the browser sends it to the address of the page and keeps the
 * `#fragment`, which names a part of the document.
 */
export function passwordPage({ isWrong }: { isWrong: boolean }): string {
  const invalid = html` aria-invalid="true" aria-describedby="wrong"`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>This document needs a password</title>
<meta name="robots" content="noindex"/>
<meta name="color-scheme" content="light dark"/>
<link rel="icon" href="data:,"/>
${passwordStyle}
</head>
<body>
<main class="notice">
<h1>This document needs a password</h1>
<p>Enter the password of this link. If you do not know it, ask the person who sent you the link.</p>
<form method="post">
${isWrong ? wrong : joinHtml([])}<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${isWrong ? invalid : joinHtml([])}/>
<button>Open the document</button>
</form>
</main>
</body>
</html>
`;
}
