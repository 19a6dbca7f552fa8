/** The operations that serve the API reference. */
import { z } from 'zod';
import { anyone, media, operation } from '#libs/contract';

export const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'Get this reference as OpenAPI 3.1',
  access: anyone,
  status: 200,
  etag: true,
  cacheControl: 'no-cache',
  returns: z.record(z.string(), z.unknown()),
  problems: [],
});

export const getReferencePage = operation({
  id: 'getReferencePage',
  method: 'get',
  path: '/docs',
  summary: 'Get this reference as an HTML page',
  access: anyone,
  status: 200,
  etag: true,
  cacheControl: 'no-cache',
  returns: media({ 'text/html': { description: 'An HTML page' } }),
  problems: [],
});

export const getReferenceAsset = operation({
  id: 'getReferenceAsset',
  method: 'get',
  path: '/docs/{file}',
  summary: 'Get a file of the reference page',
  access: anyone,
  params: z.object({
    file: z
      .enum([
        'swagger-ui.css',
        'swagger-ui-bundle.js',
        'favicon-32x32.png',
        'page.css',
        'start.js',
        'samples.js',
        'one-operation.js',
      ])
      .meta({ description: 'Name of the file' }),
  }),
  status: 200,
  // a page and its files are of the same version, so each is asked for again
  etag: true,
  cacheControl: 'no-cache',
  returns: media({
    'text/javascript': { description: 'A script' },
    'text/css': { description: 'A style sheet' },
    'image/png': { description: 'An icon' },
  }),
  problems: [],
});
