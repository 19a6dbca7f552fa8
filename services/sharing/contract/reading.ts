/** Defines the operations of personal links: the page for a reader without an account, and its form. */
import { z } from 'zod';
import { anyone, form, media, NotFound, nothing, operation } from '#libs/contract';
import { assetId, ContentChanged, pictureMedia } from '../../documents/contract.ts';
import { ReadingState } from '../acknowledgements/shapes.ts';
import { EmbeddedDocument } from '../shapes.ts';

// accept any text: a malformed token must get the same 404 as an unknown token
const readingParams = z.object({ token: z.string().meta({ description: 'Token of the personal link' }) });
const readingQuery = z.object({
  format: z
    .enum(['json', 'html'])
    .optional()
    .meta({ description: 'Response format; overrides the `Accept` header' }),
});

/** A document with what its reader is asked. */
const ReadingDocument = EmbeddedDocument.extend({ acknowledgement: ReadingState }).meta({
  id: 'ReadingDocument',
});

export const readDocument = operation({
  id: 'readDocument',
  at: 'root',
  method: 'get',
  path: '/read/{token}',
  summary: 'Read a document with a personal link',
  description:
    'The target of the link of a reader. Returns JSON, or an HTML page with the name of the reader, the statement and a button, if the client prefers HTML. An unknown token and the link of a closed request return the same 404. An address that requests too many unknown links gets 429.',
  access: anyone,
  params: readingParams,
  query: readingQuery,
  status: 200,
  returns: media({
    'application/json': { description: 'The document as JSON', schema: ReadingDocument },
    'text/html': { description: 'The document as an HTML page without scripts' },
  }),
  etag: true,
  cacheControl: 'private, no-cache',
  problemPages: true,
  problems: [NotFound],
});

export const acknowledgeByLink = operation({
  id: 'acknowledgeByLink',
  at: 'root',
  method: 'post',
  path: '/read/{token}',
  summary: 'Acknowledge a document with a personal link',
  description:
    'The target of the form on the page. `content_hash` is that of the words on the page. Then redirects to the page, which shows the date. A second time changes nothing.',
  access: anyone,
  params: readingParams,
  query: readingQuery,
  body: form(z.strictObject({ content_hash: z.string() })),
  maxBodyBytes: 4096,
  status: 303,
  returns: nothing,
  problemPages: true,
  problems: [NotFound, ContentChanged],
});

export const getReadingAsset = operation({
  id: 'getReadingAsset',
  at: 'root',
  method: 'get',
  path: '/read/{token}/assets/{asset_id}',
  summary: 'Download a picture of a document with a personal link',
  description:
    'The address of an uploaded picture in the document of a personal link. Works whenever the link does, and only for pictures of the version that the link shows. Everything else returns the same 404 as an unknown link.',
  access: anyone,
  params: readingParams.extend({ asset_id: z.string().meta(assetId.meta() ?? {}) }),
  status: 200,
  returns: pictureMedia,
  etag: true,
  cacheControl: 'private, no-cache',
  problems: [NotFound],
});
