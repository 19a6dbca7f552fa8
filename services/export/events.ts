/** The events that export publishes. They are internal: webhooks cannot subscribe to them. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';

const template = z.strictObject({
  template_id: id,
  sha256: z.string().meta({ description: 'SHA-256 of the uploaded file, hex' }),
});

/** A template was uploaded. */
export const TemplateCreated = event('template.created', {
  description: 'A Word template was uploaded.',
  data: template,
});

/** A template was deleted. */
export const TemplateDeleted = event('template.deleted', {
  description: 'A Word template was deleted.',
  data: template,
});

/** An archive of the library was requested. */
export const LibraryExported = event('library.exported', {
  description: 'The export of the library as an archive was started.',
  data: z.strictObject({
    status: z.array(z.string()).nullable().meta({ description: 'Null for documents of every status' }),
    department: z.string().nullable(),
    updated_since: timestamp.nullable(),
  }),
});
