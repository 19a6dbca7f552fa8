/** The start page at the root of the application and of the API: HTML for people, JSON for programs. */
import { createHash } from 'node:crypto';
import { body } from '#libs/contract';
import { handle, type RequestInfo, reply } from '#libs/http';
import { element, escapeHtml, type Html, html, joinHtml, style } from '#libs/rich-text';
import type { PublicHealth } from '#libs/service';
import { about } from '../../about.ts';
import { getApiStartPage, getStartPage, type StartPage } from '../contract.ts';
import { startPageStyle } from './start-page-style.ts';

/** What the start page needs. */
interface StartPageOptions {
  health(): Promise<PublicHealth>;
  /** The setting `GUIDES_URL`. */
  guidesUrl: string | undefined;
}

/** The Content-Security-Policy allows only the page's own style and the icon of the reference page. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(startPageStyle).digest('base64')}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = { Vary: 'Accept' };

/** Handlers of the operations that serve the start page. */
export function startPageHandlers({ health, guidesUrl }: StartPageOptions) {
  const showPage = async ({ call }: { call: RequestInfo }) => {
    const content: StartPage = {
      title: about.title,
      version: about.version,
      ...(await health()),
      links: {
        api: about.apiPrefix,
        reference: `${about.apiPrefix}/docs`,
        openapi: `${about.apiPrefix}/openapi.json`,
        guides: guidesUrl ?? null,
      },
    };
    if (!call.prefersHtml) return reply(body('application/json', JSON.stringify(content)), { headers });
    const page = toPage(content, about.description);
    return reply(body('text/html; charset=utf-8', page), {
      headers: { ...headers, 'Content-Security-Policy': policy },
    });
  };
  return [handle(getStartPage, showPage), handle(getApiStartPage, showPage)];
}

function toPage({ title, version, status, services, links }: StartPage, description: string): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>${escapeHtml(title)}</title>
<meta name="robots" content="noindex"/>
<meta name="color-scheme" content="light dark"/>
${element('link', { rel: 'icon', href: `${links.reference}/favicon-32x32.png` })}
${style(startPageStyle)}
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(description)}</p>
<h2>For developers</h2>
<ul>
<li>${link(links.reference, 'API reference')}: all operations with their parameters, responses and errors</li>
<li>${link(links.openapi, 'openapi.json')}: the same reference as OpenAPI 3.1, for tools</li>
<li>${toGuidesLink(links.guides)}</li>
</ul>
<p>The API is at <code>${escapeHtml(links.api)}</code>, version ${escapeHtml(version)}. Requests need an API key or an access token.</p>
<h2>Health</h2>
<p>${toStatus(status)}: ${escapeHtml(meanings[status])}</p>
<ul class="services">
${joinHtml(
  services.map(
    (service) => html`<li><span>${escapeHtml(service.name)}</span> ${toStatus(service.status)}</li>`,
  ),
  '\n',
)}
</ul>
</main>
</body>
</html>
`;
}

const meanings = {
  ok: 'the process that sent this page is healthy.',
  degraded:
    'a dependency is unreachable, or events are delayed. Requests may fail with 503; try again in a moment.',
};

/** The status as text: colour alone is not accessible. */
function toStatus(status: StartPage['status']): Html {
  return element('strong', { class: status }, escapeHtml(status));
}

function toGuidesLink(url: string | null): Html {
  if (url === null)
    return html`Guides: see the folder <code>docs</code> of the repository; start with <code>docs/README.md</code>`;
  return html`${link(url, 'Guides')}: using the API, webhooks, embedding, Word templates`;
}

function link(href: string, text: string): Html {
  return element('a', { href }, escapeHtml(text));
}
