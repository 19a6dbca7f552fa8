/** Operations that show the reference of the whole API. */
import { z } from 'zod';
import { anyone, media, operation } from '#libs/contract';

export const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This reference as OpenAPI 3.1',
  access: anyone,
  status: 200,
  etag: true,
  returns: z.record(z.string(), z.unknown()),
  problems: [],
});

export const getReferencePage = operation({
  id: 'getReferencePage',
  method: 'get',
  path: '/docs',
  summary: 'This reference as a page for people',
  access: anyone,
  status: 200,
  returns: media({ 'text/html': { description: 'A page' } }),
  problems: [],
});

export const getReferenceAsset = operation({
  id: 'getReferenceAsset',
  method: 'get',
  path: '/docs/{file}',
  summary: 'A file of the reference page',
  access: anyone,
  params: z.object({
    file: z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'favicon-32x32.png']),
  }),
  status: 200,
  returns: media({ '*/*': { description: 'A style sheet, a script or an icon' } }),
  problems: [],
});
