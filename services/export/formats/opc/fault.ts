/** A refusal of an upload: what is wrong, in a sentence that tells the uploader what to do. */

/** Why an upload is refused: the `reason` of the answer. They are stable; docs/word-templates.md explains each. */
export const faultCodes = [
  'bomb',
  'compression',
  'content_place',
  'content_twice',
  'damaged',
  'dotx',
  'duplicate_part',
  'encrypted',
  'fields_too_deep',
  'legacy_doc',
  'macros',
  'missing_part',
  'missing_type',
  'not_docx',
  'overlapping_parts',
  'password_protected',
  'strict_ooxml',
  'too_large',
  'too_many_parts',
  'too_many_placeholders',
  'unpacked_too_large',
  'unsafe_name',
  'xml_doctype',
  'xml_malformed',
  'xml_too_deep',
  'xml_too_large',
] as const;

export type FaultCode = (typeof faultCodes)[number];

/** `message` is one sentence for the uploader. */
export type TemplateFault = { code: FaultCode; message: string };

/** Thrown inside the compile step only; `compileTemplate` turns it into its answer. */
export class TemplateRejected extends Error {
  readonly fault: TemplateFault;

  constructor(fault: TemplateFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Refuses the upload. */
export function reject(code: FaultCode, message: string): never {
  throw new TemplateRejected({ code, message });
}
