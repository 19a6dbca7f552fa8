/** Renders a document into a compiled template; the body is written directly into the package. */
import { type PartSource, type Parts, pack, TYPES_PART, toRelsPart, unpack } from '#libs/opc';
import type { WordDocument } from './document.ts';
import { toSlot } from './template/placeholders.ts';
import type { CompiledTemplate } from './template.ts';
import { renderBody } from './word/body.ts';
import {
  type BodyWriter,
  createBodyWriter,
  renderContentTypes,
  renderRelationships,
} from './word/body-writer.ts';
import { fitHeader } from './word/header-height.ts';
import { copyListPatterns } from './word/ordered-lists.ts';
import { toPlaceholderValues } from './word/placeholder-values.ts';
import { completeFormats, fillWithDirection } from './word/template-direction.ts';

/** Renders the .docx file. A property that is null (a version, a date) leaves its placeholder empty. */
export async function renderWord(
  document: WordDocument,
  template: CompiledTemplate,
  { indentInches }: { indentInches: number },
): Promise<Uint8Array> {
  const parts = await unpack(template.bytes, NO_LIMITS);
  const writer = createBodyWriter(fitHeader(template.plan, document), document);
  return pack(writeParts(parts, writer, document, indentInches));
}

/** No limits: they were checked when the template was uploaded and compiled. */
const NO_LIMITS = {
  fileBytes: Number.POSITIVE_INFINITY,
  entries: Number.POSITIVE_INFINITY,
  unpackedBytes: Number.POSITIVE_INFINITY,
  ratio: Number.POSITIVE_INFINITY,
  ratioFromBytes: Number.POSITIVE_INFINITY,
};

/** Generates the parts of the file. Parts that depend on what the body uses come after it. */
function* writeParts(
  parts: Parts,
  writer: BodyWriter,
  document: WordDocument,
  indentInches: number,
): Generator<[string, PartSource]> {
  const { plan } = writer;
  const isRtl = writer.direction === 'rtl';
  const values = toPlaceholderValues(writer, document);
  const complete = (text: string) => (isRtl ? completeFormats(text) : text);
  // the layout of other templates is that of their authors
  const isMirrored = plan.hasContents && isRtl;
  const fill = (text: string) =>
    fillWithDirection(complete(text), (piece) => fillSlots(piece, plan.nonce, values), { isMirrored });
  const deferred = [plan.numbering, toRelsPart(plan.main), TYPES_PART];
  for (const [name, bytes] of parts) {
    if (name === plan.main || deferred.includes(name)) continue;
    const edit = plan.filled.includes(name) ? fill : name === plan.stylesPart ? complete : undefined;
    yield [name, edit ? Buffer.from(edit(decodeText(bytes))) : bytes];
  }
  const [before = '', after = ''] = getPartText(parts, plan.main).split(toSlot(plan.nonce, 'content'));
  yield [
    plan.main,
    function* () {
      yield fill(before);
      yield* renderBody(writer, document, indentInches);
      yield fill(after);
    },
  ];
  const additions = {
    lists: writer.lists.join(''),
    relationships: renderRelationships(writer),
    types: renderContentTypes(writer),
  };
  for (const name of deferred) {
    const text = getPartText(parts, name);
    const filled = name === plan.numbering ? copyListPatterns(text, writer) : text;
    yield [name, Buffer.from(fillSlots(filled, plan.nonce, additions))];
  }
  for (const { part, bytes } of writer.pictures.values()) yield [part, bytes];
}

/** Fills all slots in one pass, so that text in a value is never taken for a slot. */
function fillSlots(text: string, nonce: string, values: Record<string, string>): string {
  return text.replace(new RegExp(`${nonce}:([a-z_]+);`, 'g'), (_slot, name: string) => values[name] ?? '');
}

function getPartText(parts: Parts, name: string): string {
  return decodeText(parts.get(name) ?? new Uint8Array());
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
