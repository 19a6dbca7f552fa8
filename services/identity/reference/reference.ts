/** The API reference as OpenAPI and as an HTML page. All files of the page are served from this process. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { body, json } from '#libs/contract';
import { handle, reply } from '#libs/http';
import { getOpenApi, getReferenceAsset, getReferencePage } from '../contract.ts';
import { renderReferencePage } from './reference-page.ts';
import { encodeFile, type StaticFile, toStaticFile } from './static-file.ts';

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
};

/** Files that are not part of Swagger UI. */
const ownFiles = ['start.js', 'samples.js', 'one-operation.js', 'page.css'];

const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The OpenAPI document of all services. `npm run generate` writes it from their contracts. */
const documentFile = new URL('../../../docs/contracts/openapi.json', import.meta.url);

/** Handlers of the operations that serve the OpenAPI document and its page. */
export function referenceHandlers() {
  const swaggerFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const readAsset = (name: string) =>
    readFile(ownFiles.includes(name) ? new URL(`page/${name}`, import.meta.url) : join(swaggerFolder, name));
  // a file is read and compressed with its first request
  const files = new Map<string, Promise<StaticFile>>();
  const getFile = (name: string, read: () => Promise<string | Uint8Array>) => {
    const file = files.get(name) ?? read().then(toStaticFile);
    files.set(name, file);
    file.catch(() => files.delete(name));
    return file;
  };
  return [
    handle(getOpenApi, async ({ call }) => {
      const file = await getFile('openapi.json', async () => JSON.stringify(await readDocument()));
      const { bytes, ...options } = await encodeFile(file, call);
      return reply(json(bytes), options);
    }),
    handle(getReferencePage, async ({ call }) => {
      const file = await getFile('page', async () => renderReferencePage(await readDocument()));
      const { bytes, etag, headers } = await encodeFile(file, call);
      return reply(body('text/html; charset=utf-8', bytes), {
        etag,
        headers: { ...headers, ...pageHeaders },
      });
    }),
    handle(getReferenceAsset, async ({ params: { file: name }, call }) => {
      const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      const { bytes, ...options } = await encodeFile(await getFile(name, () => readAsset(name)), call);
      return reply(body(type, bytes), options);
    }),
  ];
}

async function readDocument(): Promise<unknown> {
  return JSON.parse(await readFile(documentFile, 'utf8'));
}
