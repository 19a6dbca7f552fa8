/** The public interface of the export service: Word and Markdown exports, and templates for Word. */
import { z } from 'zod';
import {
  contract,
  id,
  media,
  multipart,
  NotFound,
  nothing,
  operation,
  page,
  problem,
  queryFlag,
  requiredText,
  timestamp,
} from '#libs/contract';
import {
  assetBytes,
  documentApprovals,
  documentNodes,
  documentStates,
  documentVersions,
  libraryDocuments,
} from '../documents/contract.ts';
import {
  ApiKeyUsed,
  member,
  organizationProfiles,
  ownerOrAdmin,
  principalViews,
  StorageQuotaExhausted,
  userNames,
} from '../identity/contract.ts';
import { shareLinks } from '../sharing/views.ts';
import { LibraryExported, TemplateCreated, TemplateDeleted } from './events.ts';
import { exportLibrary } from './library/contract.ts';
import { templateUsage } from './views.ts';

export * from './library/contract.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const TemplateInvalid = problem(
  'template_invalid',
  400,
  'The file cannot be used as a template. Upload a .docx file saved by Word.',
);

export const ExportTooLarge = problem('export_too_large', 400, 'The document is too large to export.');

// ── Shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Media type of a .docx file. */
export const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Media type of Markdown; its charset is required (RFC 7763). */
export const markdownType = 'text/markdown; charset=utf-8';

/** The flavors of Markdown: plain paragraphs and bullet lists, or GitHub Flavored Markdown. */
export const markdownFlavors = ['plain', 'gfm'] as const;
export type MarkdownFlavor = (typeof markdownFlavors)[number];

/** The id of the built-in template. */
export const builtIn = 'default';

/** Maximum size of a template file, bytes. */
export const maxTemplateBytes = 10 * 1024 * 1024;

const docParams = z.object({ doc_id: id });

/** The query parameter that all formats have. */
const fileName = {
  versioned: queryFlag.optional().meta({ description: 'If `true`, the file name ends with the version' }),
};

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
  .pipe(z.number('Enter a number of inches').min(0).max(3).optional())
  .optional()
  .meta({ type: 'number', minimum: 0, maximum: 3 });

/** The text fields of an upload; other fields are ignored. */
export const templateFields = z
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

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

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

export const exportWord = operation({
  id: 'exportWord',
  method: 'get',
  path: '/documents/{doc_id}/export/word',
  summary: 'Export a document as a Word file',
  description: 'The document may be in any state.',
  access: member,
  params: docParams,
  query: z.object({
    template_id: z
      .string('Pass the id of a template, or `default`')
      .min(1, 'Pass the id of a template, or `default`')
      .meta({ description: 'Id of a template, or `default` for the built-in template' }),
    ...fileName,
  }),
  status: 200,
  returns: media({ [wordType]: { description: 'The file as an attachment' } }),
  etag: true,
  problems: [NotFound, ExportTooLarge],
});

export const exportMarkdown = operation({
  id: 'exportMarkdown',
  method: 'get',
  path: '/documents/{doc_id}/export/markdown',
  summary: 'Export a document as Markdown',
  description: 'The document may be in any state.',
  access: member,
  params: docParams,
  query: z.object({
    ...fileName,
    flavor: z.enum(markdownFlavors, 'Pass `plain` or `gfm`').default('plain').meta({
      description:
        '`plain`: text becomes plain paragraphs and bullet lists. `gfm`: GitHub Flavored Markdown with tables, code, all lists, links, emphasis, pictures and alerts.',
    }),
  }),
  status: 200,
  returns: media({ 'text/markdown': { description: 'The file as an attachment' } }),
  etag: true,
  problems: [NotFound, ExportTooLarge],
});

export const exportContract = contract({
  name: 'export',
  title: 'Export',
  description: 'Exports documents as Word files and as Markdown, and all documents as a zip archive.',
  operations: [createTemplate, listTemplates, deleteTemplate, exportWord, exportMarkdown, exportLibrary],
  publishes: [TemplateCreated, TemplateDeleted, LibraryExported, ApiKeyUsed],
  consumes: [],
  owns: ['templates', 'template_files.files', 'template_files.chunks'],
  views: [templateUsage],
  reads: [
    ...principalViews,
    ...[
      organizationProfiles,
      userNames,
      documentStates,
      documentVersions,
      documentApprovals,
      documentNodes,
      assetBytes,
      libraryDocuments,
      shareLinks,
    ],
  ],
});
