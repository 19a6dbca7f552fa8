/** Turns an uploaded .docx into a template that can be filled quickly, once; says what is wrong with it otherwise. */
import { createHash, randomBytes } from 'node:crypto';
import { type TemplateFault, TemplateRejected } from './opc/fault.ts';
import { pack } from './opc/pack.ts';
import { readPackage } from './opc/package.ts';
import { unpack } from './opc/unpack.ts';
import { createXmlBudget } from './opc/xml.ts';
import { compilePlan } from './template/compile.ts';
import type { TemplatePlan } from './template/plan.ts';

export type { TemplateFault, TemplatePlan };

/**
 * `bytes` is the compiled package, a zip with slots in it (not a document to hand out); `placeholders` the known ones
 * found, `warnings` sentences for the uploader, `sha256` of the upload in hex.
 */
export type CompiledTemplate = {
  bytes: Uint8Array;
  placeholders: string[];
  warnings: string[];
  sha256: string;
  plan: TemplatePlan;
};

export type Compilation = { ok: true; template: CompiledTemplate } | { ok: false; fault: TemplateFault };

/** Validates and compiles an upload; the nonce marks slots and is random unless a test says otherwise. */
export async function compileTemplate(
  original: Uint8Array,
  { nonce = randomBytes(16).toString('hex') }: { nonce?: string } = {},
): Promise<Compilation> {
  try {
    const package_ = readPackage(await unpack(original), createXmlBudget());
    const { plan, parts, placeholders, warnings } = compilePlan(package_, nonce);
    const sha256 = createHash('sha256').update(original).digest('hex');
    return { ok: true, template: { bytes: await pack(parts), placeholders, warnings, sha256, plan } };
  } catch (error) {
    if (error instanceof TemplateRejected) return { ok: false, fault: error.fault };
    throw error;
  }
}
