/** Renders a document into a compiled template: the body's markup is written straight into the package. */
import type { ExportDocument } from './document.ts';
import { type PartSource, pack } from './opc/pack.ts';
import { relsPart, TYPES_PART } from './opc/package.ts';
import { type Parts, unpack } from './opc/unpack.ts';
import { escapeLine } from './opc/xml-text.ts';
import { slot } from './template/placeholders.ts';
import type { CompiledTemplate } from './template.ts';
import { bodyMarkup } from './word/body.ts';
import { type BodyWriter, newPen, relationshipsMarkup, typesMarkup } from './word/body-writer.ts';

/** The .docx; what the document does not have (a version, a date) leaves its placeholder empty. */
export async function renderWord(
  document: ExportDocument,
  template: CompiledTemplate,
  { indentInches }: { indentInches: number },
): Promise<Uint8Array> {
  const parts = await unpack(template.bytes, TRUSTED);
  const pen = newPen(template.plan);
  return pack(written(parts, pen, document, indentInches));
}

/** The compiled package is our own work: its limits were checked when it was uploaded. */
const TRUSTED = {
  fileBytes: Number.POSITIVE_INFINITY,
  entries: Number.POSITIVE_INFINITY,
  unpackedBytes: Number.POSITIVE_INFINITY,
  ratio: Number.POSITIVE_INFINITY,
  ratioFromBytes: Number.POSITIVE_INFINITY,
};

/** The parts of the result; those that tell what the body used come after it. */
function* written(
  parts: Parts,
  pen: BodyWriter,
  document: ExportDocument,
  indentInches: number,
): Generator<[string, PartSource]> {
  const { plan } = pen;
  const values = valuesOf(document);
  const late = [plan.numbering, relsPart(plan.main), TYPES_PART];
  for (const [name, bytes] of parts) {
    if (name === plan.main || late.includes(name)) continue;
    yield [name, plan.filled.includes(name) ? Buffer.from(filled(textOf(bytes), plan.nonce, values)) : bytes];
  }
  const [before = '', after = ''] = partText(parts, plan.main).split(slot(plan.nonce, 'content'));
  yield [
    plan.main,
    function* () {
      yield filled(before, plan.nonce, values);
      yield* bodyMarkup(pen, document, indentInches);
      yield filled(after, plan.nonce, values);
    },
  ];
  const added = {
    lists: pen.lists.join(''),
    relationships: relationshipsMarkup(pen),
    types: typesMarkup(pen),
  };
  for (const name of late) yield [name, Buffer.from(filled(partText(parts, name), plan.nonce, added))];
  for (const { part, bytes } of pen.pictures.values()) yield [part, bytes];
}

/** Every slot is filled in one pass, so that nothing in a value is ever taken for a slot. */
function filled(text: string, nonce: string, values: Record<string, string>): string {
  return text.replace(new RegExp(`${nonce}:([a-z_]+);`, 'g'), (_slot, name: string) => values[name] ?? '');
}

function valuesOf({ title, version, department, published_at, organization }: ExportDocument) {
  return {
    title: escapeLine(title),
    version: escapeLine(version ?? ''),
    department: escapeLine(department ?? ''),
    published_at: escapeLine(published_at?.slice(0, 10) ?? ''),
    organization: escapeLine(organization),
  };
}

function partText(parts: Parts, name: string): string {
  return textOf(parts.get(name) ?? new Uint8Array());
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
