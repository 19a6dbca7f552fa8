/** Defines the operations that import Word, Markdown and HTML files. */
import { operation } from '#libs/contract';
import { member, StorageQuotaExhausted } from '../../identity/contract.ts';
import { ImportPreview, ImportResult, importBody } from '../import-shapes.ts';
import { importReasons } from '../imports/import-fault.ts';
import { ContentTooLarge, ImportInvalid, ImportTooLarge, TooManyNodes } from '../problems.ts';

const files =
  'The file is a .docx (at most 20 MiB), .md or .html (2 MiB, UTF-8), or a .zip (30 MiB) with exactly one .md or .html and its pictures. Headings become sections, steps and sub-steps. Pictures become assets.';

const reasons = `The \`reason\` of \`import_invalid\` is ${importReasons.map((reason) => `\`${reason}\``).join(', ')}.`;

export const previewImport = operation({
  id: 'previewImport',
  method: 'post',
  path: '/imports/preview',
  summary: 'Convert a file without creating documents',
  description: `${files} \`documents\` are bodies of \`createDocument\`. Only pictures are stored: an asset that no document names within 24 hours is deleted. ${reasons}`,
  access: member,
  body: importBody,
  status: 200,
  returns: ImportPreview,
  problems: [ImportInvalid, ImportTooLarge, TooManyNodes, ContentTooLarge, StorageQuotaExhausted],
});

export const createImport = operation({
  id: 'createImport',
  method: 'post',
  path: '/imports',
  summary: 'Create drafts from a file',
  description: `${files} You own the drafts. All of them are created, or none. ${reasons}`,
  access: member,
  body: importBody,
  status: 201,
  returns: ImportResult,
  problems: [ImportInvalid, ImportTooLarge, TooManyNodes, ContentTooLarge, StorageQuotaExhausted],
});
