/** The shapes of imports: the fields of the upload, the report and the documents. */
import { z } from 'zod';
import { multipart } from '#libs/contract';
import { dropNames, importFormats, importWarnings, maxWarnings } from './imports/report.ts';
import { DocumentSummary, department, language, nodeInput, title, versionLabel } from './shapes.ts';

const list = (texts: Record<string, string>) =>
  Object.entries(texts)
    .map(([name, text]) => `\`${name}\`: ${text}.`)
    .join(' ');

/** The text fields of an upload; other fields are ignored. */
const importFields = z.object({
  tracked_changes: z.enum(['refuse', 'accept'], 'Send `refuse` or `accept`').default('refuse').meta({
    description:
      'What to do with a Word file that has tracked changes: `refuse` it, or `accept` all of them, so that deleted text is gone',
  }),
});

/** The body of both operations. */
export const importBody = multipart({
  fields: importFields,
  file: 'file',
  maxFileBytes: 30 * 1024 * 1024,
});

const ImportWarning = z
  .strictObject({
    code: z.string().meta({
      description: `Stable. ${list(importWarnings)} \`more_warnings\`: how many warnings are left out.`,
    }),
    message: z.string(),
    document: z.number().int().meta({ description: 'The index of the document in `documents`' }),
    path: z.string().meta({
      description: 'The node in the document, such as `nodes/0/children/1`; empty for the document itself',
    }),
  })
  .meta({ id: 'ImportWarning', description: 'Something that an import has changed.' });

const DroppedContent = z
  .strictObject({
    what: z.string().meta({ description: `Stable. ${list(dropNames)}` }),
    count: z.number().int(),
  })
  .meta({ id: 'DroppedContent', description: 'Something that an import has left out.' });

const ImportReport = z
  .strictObject({
    format: z.enum(importFormats).meta({ description: 'The format, which the content decides' }),
    documents: z.number().int(),
    nodes: z.number().int(),
    pictures: z.number().int().meta({ description: 'The number of different pictures that became assets' }),
    dropped: z.array(DroppedContent),
    warnings: z
      .array(ImportWarning)
      .max(maxWarnings + 1)
      .meta({ description: `At most ${maxWarnings}, and one that says how many are left out` }),
  })
  .meta({ id: 'ImportReport', description: 'What an import read, left out and changed.' });

const ImportedDocument = z
  .strictObject({
    title,
    version: versionLabel.nullable(),
    department: department.nullable(),
    language: language.nullable().meta({ description: 'Null unless the file is a library' }),
    nodes: z.array(nodeInput),
  })
  .meta({ id: 'ImportedDocument', description: 'A document as `createDocument` accepts it.' });

export const ImportPreview = z
  .strictObject({ documents: z.array(ImportedDocument), report: ImportReport })
  .meta({ id: 'ImportPreview', description: 'What an import would create.' });

export const ImportResult = z
  .strictObject({ documents: z.array(DocumentSummary), report: ImportReport })
  .meta({ id: 'ImportResult', description: 'The drafts that an import has created.' });
