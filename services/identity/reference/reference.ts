/** The API reference as OpenAPI and as an HTML page. All files of the page are served from this process. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { body, json } from '#libs/contract';
import { handle, reply } from '#libs/http';
import { getOpenApi, getReferenceAsset, getReferencePage } from '../contract.ts';

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
};

const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Process Document Service: API reference</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript><p>This page needs JavaScript. The same reference is available as <a href="openapi.json">openapi.json</a>.</p></noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const startScript = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#reference', deepLinking: true, defaultModelsExpandDepth: 0, validatorUrl: null });
`;

/** The OpenAPI document of all services. `npm run generate` writes it from their contracts. */
const documentFile = new URL('../../../docs/contracts/openapi.json', import.meta.url);

/** Handlers of the operations that serve the OpenAPI document and its page. */
export function referenceHandlers() {
  // read with the first request
  let document: ReturnType<typeof readDocument> | undefined;
  const files = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return [
    handle(getOpenApi, async () => {
      document ??= readDocument();
      const { text, etag } = document;
      return reply(json(text), { etag });
    }),
    handle(getReferencePage, async () =>
      reply(body('text/html; charset=utf-8', page), { headers: pageHeaders }),
    ),
    handle(getReferenceAsset, async ({ params }) => {
      const type = types[params.file.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      const content = params.file === 'start.js' ? startScript : await readFile(join(files, params.file));
      return body(type, content);
    }),
  ];
}

function readDocument() {
  const text = JSON.stringify(JSON.parse(readFileSync(documentFile, 'utf8')));
  return { text, etag: createHash('sha256').update(text).digest('base64url').slice(0, 22) };
}
