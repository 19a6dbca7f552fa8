/** The faults for which an uploaded template is rejected. */

/** Values of `reason` in a rejection. They are stable; docs/word-templates.md explains each. */
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
  'xml_include',
  'xml_malformed',
  'xml_too_deep',
  'xml_too_large',
] as const;

export type FaultCode = (typeof faultCodes)[number];

/** Why a template is rejected; `message` tells the uploader what is wrong and what to do. */
export type TemplateFault = { code: FaultCode; message: string };

/** Thrown by the compiler; `compileTemplate` catches it and returns its fault. */
export class TemplateRejected extends Error {
  readonly fault: TemplateFault;

  constructor(fault: TemplateFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Rejects the template. Errors: always `TemplateRejected`. */
export function reject(code: FaultCode, message: string): never {
  throw new TemplateRejected({ code, message });
}
