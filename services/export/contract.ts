/** The public interface of the export service: Word, Markdown and HTML exports, and templates for Word. */
import { z } from 'zod';
import { contract, id, media, NotFound, operation, problem, queryFlag } from '#libs/contract';
import {
  assetBytes,
  documentApprovals,
  documentNodes,
  documentStates,
  documentVersions,
  libraryDocuments,
} from '../documents/contract.ts';
import { ApiKeyUsed, member, organizationProfiles, principalViews, userNames } from '../identity/contract.ts';
import { shareLinks } from '../sharing/views.ts';
import { createTemplate, deleteTemplate, listTemplates } from './contract/templates.ts';
import { LibraryExported, TemplateCreated, TemplateDeleted } from './events.ts';
import { exportLibrary } from './library/contract.ts';
import { templateUsage } from './views.ts';

export * from './contract/templates.ts';
export * from './library/contract.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const ExportTooLarge = problem('export_too_large', 400, 'The document is too large to export.');

// ── Shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Media type of a .docx file. */
export const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Media type of Markdown; its charset is required (RFC 7763). */
export const markdownType = 'text/markdown; charset=utf-8';

/** Media type of an HTML file. */
export const htmlType = 'text/html; charset=utf-8';

/** The flavors of Markdown: plain paragraphs and bullet lists, or GitHub Flavored Markdown. */
const markdownFlavors = ['plain', 'gfm'] as const;
export type MarkdownFlavor = (typeof markdownFlavors)[number];

const docParams = z.object({ doc_id: id });

/** The query parameter that all formats have. */
const fileName = {
  versioned: queryFlag.optional().meta({ description: 'If `true`, the file name ends with the version' }),
};

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

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

export const exportHtml = operation({
  id: 'exportHtml',
  method: 'get',
  path: '/documents/{doc_id}/export/html',
  summary: 'Export a document as one HTML file',
  description:
    'The file looks like the page of a public link. It contains its style sheet and pictures, has no scripts and loads nothing. The document may be in any state; the file says if it is a draft or archived.',
  access: member,
  params: docParams,
  query: z.object(fileName),
  status: 200,
  returns: media({ 'text/html': { description: 'The file as an attachment' } }),
  etag: true,
  problems: [NotFound, ExportTooLarge],
});

export const exportContract = contract({
  name: 'export',
  title: 'Export',
  description: 'Exports documents as Word, Markdown and HTML files, and all documents as a zip archive.',
  operations: [
    createTemplate,
    listTemplates,
    deleteTemplate,
    exportWord,
    exportMarkdown,
    exportHtml,
    exportLibrary,
  ],
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
