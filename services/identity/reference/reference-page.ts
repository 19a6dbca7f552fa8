/** The HTML of the reference page: its contents, which show every operation at once, and a place for Swagger UI. */
import { z } from 'zod';
import { element, escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';

/** What the page shows of the OpenAPI document. */
const shownDocument = z.object({
  info: z.object({ title: z.string() }),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ operationId: z.string(), tags: z.array(z.string()), summary: z.string() }),
    ),
  ),
});

/** Renders the page of an OpenAPI document. Browsers show it before Swagger UI is loaded. */
export function renderReferencePage(document: unknown): Html {
  const { info, tags, paths } = shownDocument.parse(document);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method })),
  );
  const sections = tags.map(({ name }) => {
    const items = operations.filter((operation) => operation.tags.includes(name)).map(toItem);
    return html`<section><h2>${escapeHtml(name)}</h2><ul>${joinHtml(items)}</ul></section>`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}: API reference</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
<script defer src="docs/swagger-ui-bundle.js"></script>
<script type="module" src="docs/start.js"></script>
</head>
<body>
<header id="bar"><strong>${escapeHtml(info.title)}</strong> <a href="openapi.json">openapi.json</a> <button id="theme" type="button">Light or dark</button></header>
<div id="columns">
<details id="contents" open><summary>Contents</summary>
<nav aria-label="Operations"><input id="search" type="search" placeholder="Search operations ( / )" aria-label="Search operations">
<p id="no-match" hidden>No operation has these words.</p>
${joinHtml(sections, '\n')}
</nav></details>
<main><p id="loading">The reference is loading.</p><div id="reference"></div>
<noscript><p>This page needs JavaScript. The same reference is available as <a href="openapi.json">openapi.json</a>.</p></noscript></main>
</div>
</body>
</html>
`;
}

interface ShownOperation {
  operationId: string;
  tags: string[];
  summary: string;
  path: string;
  method: string;
}

function toItem({ operationId, tags: [tag = ''], summary, path, method }: ShownOperation): Html {
  const href = `#/${encodeURIComponent(tag)}/${operationId}`;
  const words = [summary, path, method, operationId, tag].join(' ').toLowerCase();
  const verb = method === 'delete' ? 'DEL' : method.toUpperCase();
  const link = html`${element('b', {}, escapeHtml(verb))} ${escapeHtml(summary)}`;
  return element('li', { 'data-words': words }, element('a', { href }, link));
}
