/** Renders a document into a compiled template: the body's markup is written straight into the package. */
import type { ExportDocument } from './document.ts';
import { type PartSource, pack } from './opc/pack.ts';
import { TYPES_PART, toRelsPart } from './opc/package.ts';
import { type Parts, unpack } from './opc/unpack.ts';
import { escapeLine } from './opc/xml-text.ts';
import { toSlot } from './template/placeholders.ts';
import type { CompiledTemplate } from './template.ts';
import { renderBody } from './word/body.ts';
import {
  type BodyWriter,
  createBodyWriter,
  renderContentTypes,
  renderRelationships,
} from './word/body-writer.ts';

/** The .docx; what the document does not have (a version, a date) leaves its placeholder empty. */
export async function renderWord(
  document: ExportDocument,
  template: CompiledTemplate,
  { indentInches }: { indentInches: number },
): Promise<Uint8Array> {
  const parts = await unpack(template.bytes, TRUSTED);
  const pen = createBodyWriter(template.plan);
  return pack(writeParts(parts, pen, document, indentInches));
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
function* writeParts(
  parts: Parts,
  pen: BodyWriter,
  document: ExportDocument,
  indentInches: number,
): Generator<[string, PartSource]> {
  const { plan } = pen;
  const values = toPlaceholderValues(document);
  const deferred = [plan.numbering, toRelsPart(plan.main), TYPES_PART];
  for (const [name, bytes] of parts) {
    if (name === plan.main || deferred.includes(name)) continue;
    yield [
      name,
      plan.filled.includes(name) ? Buffer.from(fillSlots(decodeText(bytes), plan.nonce, values)) : bytes,
    ];
  }
  const [before = '', after = ''] = getPartText(parts, plan.main).split(toSlot(plan.nonce, 'content'));
  yield [
    plan.main,
    function* () {
      yield fillSlots(before, plan.nonce, values);
      yield* renderBody(pen, document, indentInches);
      yield fillSlots(after, plan.nonce, values);
    },
  ];
  const added = {
    lists: pen.lists.join(''),
    relationships: renderRelationships(pen),
    types: renderContentTypes(pen),
  };
  for (const name of deferred)
    yield [name, Buffer.from(fillSlots(getPartText(parts, name), plan.nonce, added))];
  for (const { part, bytes } of pen.pictures.values()) yield [part, bytes];
}

/** Every slot is filled in one pass, so that nothing in a value is ever taken for a slot. */
function fillSlots(text: string, nonce: string, values: Record<string, string>): string {
  return text.replace(new RegExp(`${nonce}:([a-z_]+);`, 'g'), (_slot, name: string) => values[name] ?? '');
}

function toPlaceholderValues({ title, version, department, published_at, organization }: ExportDocument) {
  return {
    title: escapeLine(title),
    version: escapeLine(version ?? ''),
    department: escapeLine(department ?? ''),
    published_at: escapeLine(published_at?.slice(0, 10) ?? ''),
    organization: escapeLine(organization),
  };
}

function getPartText(parts: Parts, name: string): string {
  return decodeText(parts.get(name) ?? new Uint8Array());
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
