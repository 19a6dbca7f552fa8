/** The templates of the export service: their shape, their operations and their problem. */
import { z } from 'zod';
import {
  id,
  multipart,
  NotFound,
  nothing,
  operation,
  page,
  problem,
  requiredText,
  timestamp,
} from '#libs/contract';
import { member, ownerOrAdmin, StorageQuotaExhausted } from '../../identity/contract.ts';

export const TemplateInvalid = problem(
  'template_invalid',
  400,
  'The file cannot be used as a template. Upload a .docx file saved by Word.',
);

/** The id of the built-in template. */
export const builtIn = 'default';

/** Maximum size of a template file, bytes. */
const maxTemplateBytes = 10 * 1024 * 1024;

export const Template = z
  .strictObject({
    id: id.meta({ description: 'The id to pass as `template_id` of a Word export' }),
    organization_id: id,
    created_by: id.meta({ description: 'The user who uploaded the template' }),
    name: z.string(),
    indent_inches: z.number().meta({ description: 'Indentation of nested content, inches' }),
    created_at: timestamp,
    updated_at: timestamp,
    size_bytes: z.number().int(),
    placeholders: z.array(z.string()).meta({ description: 'The known placeholders found in the template' }),
    warnings: z.array(z.string()).meta({
      description: 'Sentences about removed parts, unknown placeholders and a missing `{{content}}`',
    }),
  })
  .meta({ id: 'Template' });
export type Template = z.infer<typeof Template>;

/** A form field with a number of inches; an empty field counts as absent. */
const inches = z
  .string()
  .trim()
  .transform((text) => (text === '' ? undefined : Number(text)))
  .pipe(z.number('Enter a number of inches from 0 to 3, such as 0.5').min(0).max(3).optional())
  .optional()
  .meta({ type: 'number', minimum: 0, maximum: 3 });

/** The text fields of an upload; other fields are ignored. */
const templateFields = z
  .object({
    name: requiredText(200, 'A name is required'),
    indent_inches: inches.meta({
      description:
        'Indentation of nested content, 0 to 3 inches, 0.5 if absent; also accepted as `indent_width`, `indentation` and `indentation_width`',
    }),
    indent_width: inches,
    indentation: inches,
    indentation_width: inches,
  })
  .transform(({ name, indent_inches, indent_width, indentation, indentation_width }) => ({
    name,
    indent_inches: indent_inches ?? indent_width ?? indentation ?? indentation_width ?? 0.5,
  }));

export const createTemplate = operation({
  id: 'createTemplate',
  method: 'post',
  path: '/templates',
  summary: 'Upload a template for Word exports',
  description:
    'A .docx file of at most 10 MiB. The placeholders, such as `{{title}}` and `{{content}}`, are replaced in each export.',
  access: member,
  body: multipart({ fields: templateFields, file: 'file', maxFileBytes: maxTemplateBytes }),
  status: 201,
  returns: Template,
  problems: [TemplateInvalid, StorageQuotaExhausted],
});

export const listTemplates = operation({
  id: 'listTemplates',
  method: 'get',
  path: '/templates',
  summary: 'List the templates of the organization, newest first',
  access: member,
  query: z.object(page),
  status: 200,
  returns: z.array(Template),
  paged: true,
  problems: [],
});

export const deleteTemplate = operation({
  id: 'deleteTemplate',
  method: 'delete',
  path: '/templates/{template_id}',
  summary: 'Delete a template',
  access: ownerOrAdmin('delete this template', 'uploader'),
  params: z.object({ template_id: id }),
  status: 204,
  returns: nothing,
  problems: [NotFound],
});
