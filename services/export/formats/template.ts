/** Compiles an uploaded .docx file into a template, or returns why it is rejected. */
import { createHash, randomBytes } from 'node:crypto';
import { createXmlBudget, PackageRejected, pack, readPackage, unpack } from '#libs/opc';
import { compilePlan } from './template/compile.ts';
import { type TemplateFault, TemplateRejected } from './template/fault.ts';
import type { TemplatePlan } from './template/plan.ts';

export type { TemplateFault, TemplatePlan };

/**
 * A compiled template. `bytes` is a zip with slots, not a document that Word can open. `placeholders` lists
 * the known placeholders, `warnings` has sentences for the uploader, `sha256` is that of the upload in hex.
 */
export type CompiledTemplate = {
  bytes: Uint8Array;
  placeholders: string[];
  warnings: string[];
  sha256: string;
  plan: TemplatePlan;
};

/** The result of a compilation. */
export type Compilation = { ok: true; template: CompiledTemplate } | { ok: false; fault: TemplateFault };

/** Validates and compiles an upload. The nonce marks slots; only tests and the built-in template pass one. */
export async function compileTemplate(
  original: Uint8Array,
  { nonce = randomBytes(16).toString('hex') }: { nonce?: string } = {},
): Promise<Compilation> {
  try {
    const pkg = readPackage(await unpack(original), createXmlBudget());
    const { plan, parts, placeholders, warnings } = compilePlan(pkg, nonce);
    const sha256 = createHash('sha256').update(original).digest('hex');
    return { ok: true, template: { bytes: await pack(parts), placeholders, warnings, sha256, plan } };
  } catch (error) {
    if (error instanceof PackageRejected || error instanceof TemplateRejected)
      return { ok: false, fault: error.fault };
    throw error;
  }
}
