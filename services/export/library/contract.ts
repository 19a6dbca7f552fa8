/** The operation that exports all documents of an organization as one archive. */
import { z } from 'zod';
import { inputTime, media, operation, queryList, text } from '#libs/contract';
import { documentStatus } from '../../documents/contract.ts';
import { admin } from '../../identity/contract.ts';

/** Media type of a zip archive. */
export const zipType = 'application/zip';

export const exportLibrary = operation({
  id: 'exportLibrary',
  method: 'get',
  path: '/exports/library',
  summary: 'Export all documents as a zip archive',
  description:
    'The archive has a folder for each document with `document.json`, which is a body for `POST /documents`, and `document.md`, unless the document is too large for Markdown. The folder `assets` has each picture of these documents once. The last entry is `manifest.json`: an archive without it is not complete. Each document is consistent, but documents that change during the export may be in it before or after the change.',
  access: admin,
  query: z.object({
    status: queryList(documentStatus, documentStatus.options.length)
      .optional()
      .meta({ description: 'May be repeated. Default: documents of every status' }),
    department: text(200).optional().meta({ description: 'Exact department label' }),
    updated_since: inputTime
      .transform((time) => new Date(time))
      .optional()
      .meta({ description: 'Only documents updated at or after this time' }),
  }),
  status: 200,
  returns: media({ [zipType]: { description: 'The archive as an attachment' } }),
  problems: [],
});
