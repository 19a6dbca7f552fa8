/** The operations that serve the start page, at the root of the application and of the API. */
import { z } from 'zod';
import { anyone, media, operation } from '#libs/contract';

const health = z.enum(['ok', 'degraded']).meta({ id: 'Health' });

/** The start page as JSON. Links are paths, except `guides`, which is a URL. */
export const StartPage = z
  .strictObject({
    title: z.string(),
    version: z.string().meta({ description: 'Version of the API' }),
    status: health.meta({ description: 'Health of the process that responds' }),
    services: z
      .array(z.strictObject({ name: z.string(), status: health }))
      .meta({ description: 'The services of the process that responds' }),
    links: z.strictObject({
      api: z.string(),
      reference: z.string(),
      openapi: z.string(),
      guides: z.string().nullable().meta({ description: 'null unless the operator set `GUIDES_URL`' }),
    }),
  })
  .meta({ id: 'StartPage' });
export type StartPage = z.infer<typeof StartPage>;

const shared = {
  method: 'get',
  description: 'Returns an HTML page to browsers and JSON to other clients. No credentials are needed.',
  access: anyone,
  status: 200,
  cacheControl: 'no-cache',
  returns: media({
    'application/json': { description: 'Links and health', schema: StartPage },
    'text/html': { description: 'The same content as an HTML page without scripts' },
  }),
  problems: [],
} as const;

export const getStartPage = operation({
  ...shared,
  id: 'getStartPage',
  at: 'root',
  path: '/',
  summary: 'Get links to the reference and the guides, and the health',
});

export const getApiStartPage = operation({
  ...shared,
  id: 'getApiStartPage',
  path: '',
  summary: 'Get the same at the root of the API',
});
