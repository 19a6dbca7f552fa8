/** Operations that show where to begin: at the root of the application and of the API. */
import { z } from 'zod';
import { anyone, media, operation } from '#libs/contract';

const health = z.enum(['ok', 'degraded']);

/** Where to begin, for programs. Links are paths, but for the guides, which are elsewhere. */
export const StartPage = z
  .strictObject({
    title: z.string(),
    version: z.string().meta({ description: 'Version of the API' }),
    status: health.meta({ description: 'Health of the process that answers' }),
    services: z
      .array(z.strictObject({ name: z.string(), status: health }))
      .meta({ description: 'The services of the process that answers' }),
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
  description: 'A page for people who prefer HTML, JSON for others. It needs no credentials.',
  access: anyone,
  status: 200,
  returns: media({
    'application/json': { description: 'Links and health', schema: StartPage },
    'text/html': { description: 'The same as a page for people, which needs no script' },
  }),
  problems: [],
} as const;

export const getStartPage = operation({
  ...shared,
  id: 'getStartPage',
  at: 'root',
  path: '/',
  summary: 'Links to the reference and the guides, and the health',
});

export const getApiStartPage = operation({
  ...shared,
  id: 'getApiStartPage',
  path: '',
  summary: 'The same as `/`, at the root of the API',
});
