/** The events that export publishes about templates. They are internal: webhooks cannot subscribe to them. */
import { z } from 'zod';
import { event, id } from '#libs/contract';

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
