/** Rich text in requests: its schema, its conversion to the JSON text that is stored, and its warnings. */
import { z } from 'zod';
import { maxListedErrors, reportErrors } from '#libs/contract';
import {
  type AssetReference,
  findAssets,
  findFaults,
  findWarnings,
  knownMarks,
  knownNodes,
  mayNameAssets,
  type RichText,
  warningCodes,
} from '#libs/rich-text';

type KnownType = (typeof knownNodes | typeof knownMarks)[number];

/** The names of the known types. Any other name is valid too. */
const toTypeSchema = (known: readonly KnownType[]) => ({
  anyOf: [
    ...known.map(({ type, aliases, page, word, markdown }) => ({
      const: type,
      description: `${aliases.map((alias) => `Also \`${alias}\`. `).join('')}Page: ${page}. Word: ${word}. Markdown: ${markdown}.`,
    })),
    { type: 'string', minLength: 1, description: 'Any other type: only the text is shown' },
  ],
});

/** The known attributes. Other attributes and other values are valid too: they are stored and not shown. */
function toAttributesSchema(known: readonly KnownType[]) {
  const descriptions = new Map<string, string[]>();
  for (const { type, attributes } of known)
    for (const [name, { description }] of Object.entries(attributes))
      descriptions.set(name, [...(descriptions.get(name) ?? []), `${type}: ${description}.`]);
  const properties = [...descriptions].map(([name, texts]) => [name, { description: texts.join(' ') }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** What `findFaults` checks, as JSON Schema, except size, depth and the range of numbers. */
const richTextSchema = {
  properties: {
    type: toTypeSchema(knownNodes),
    text: { type: 'string' },
    content: { type: 'array', items: { $ref: '#/$defs/RichText' } },
    marks: {
      type: 'array',
      items: {
        type: 'object',
        properties: { type: toTypeSchema(knownMarks), attrs: toAttributesSchema(knownMarks) },
        required: ['type'],
        additionalProperties: false,
      },
    },
    attrs: toAttributesSchema(knownNodes),
  },
  required: ['type'],
  additionalProperties: false,
};

/** Rich text as ProseMirror JSON. At most 512 KiB and 32 levels deep. */
export const content = z
  .record(z.string(), z.unknown())
  .superRefine((value, context) => {
    for (const fault of reportErrors(20, (maxFaults) => findFaults(value, { maxFaults }))) {
      context.addIssue({
        code: 'custom',
        message: fault.message,
        path: fault.path === '' ? [] : fault.path.split('/'),
      });
    }
  })
  .meta({
    id: 'RichText',
    description:
      'Rich text as ProseMirror/Tiptap JSON: `{"type": "doc", "content": […]}`. It is returned as it was sent. Nodes, marks and attributes that are not listed here are stored, and not shown by the page, Word and Markdown.',
    ...richTextSchema,
  });

/** Parsed rich text. */
export type Content = z.infer<typeof content>;

/** The part of an operation's description that says what happens to rich text which is not shown completely. */
export const warningsDescription =
  'Rich text that the page, Word or Markdown will not show is accepted, and listed in `warnings`; with `strict=true`, it is rejected.';

/** Something in a request that will not be shown. */
export const ContentWarning = z
  .strictObject({
    path: z.string().meta({ description: 'Where in the request, such as `body/nodes/0/content/content/2`' }),
    code: z.string().meta({ description: `Stable: ${Object.keys(warningCodes).join(', ')}` }),
    message: z.string(),
  })
  .meta({ id: 'ContentWarning', description: 'Rich text that the page, Word or Markdown will not show.' });
export type ContentWarning = z.infer<typeof ContentWarning>;

/** What a request's rich text contains besides the text. The paths are those in the request. */
export interface ContentNotes {
  /** At most 100. */
  warnings: ContentWarning[];
  /** The images with an address of the scheme `asset:`. */
  assets: AssetReference[];
}

/** Returns the JSON text of rich text, which is stored. Adds its warnings and assets, with paths below `path`. */
export function toContentText(value: Content, path: string, { warnings, assets }: ContentNotes): string {
  // findFaults has checked the whole value
  const content = value as unknown as RichText;
  for (const warning of findWarnings(content, maxListedErrors - warnings.length))
    warnings.push({ ...warning, path: warning.path === '' ? path : `${path}/${warning.path}` });
  const text = JSON.stringify(value);
  if (mayNameAssets(text))
    for (const asset of findAssets(content)) assets.push({ ...asset, path: `${path}/${asset.path}` });
  return text;
}
