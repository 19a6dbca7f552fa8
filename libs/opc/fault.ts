/** The faults for which a package is rejected. */

/** Values of `reason` in a rejection. They are stable; docs/word-templates.md explains each. */
export const packageFaultCodes = [
  'bomb',
  'compression',
  'damaged',
  'dotx',
  'duplicate_part',
  'encrypted',
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
  'unpacked_too_large',
  'unsafe_name',
  'xml_doctype',
  'xml_include',
  'xml_malformed',
  'xml_too_deep',
  'xml_too_large',
] as const;

export type PackageFaultCode = (typeof packageFaultCodes)[number];

/** Why a package is rejected; `message` tells the uploader what is wrong and what to do. */
export type PackageFault = { code: PackageFaultCode; message: string };

/** Thrown by everything that reads a package. */
export class PackageRejected extends Error {
  readonly fault: PackageFault;

  constructor(fault: PackageFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Rejects the package. Errors: always `PackageRejected`. */
export function reject(code: PackageFaultCode, message: string): never {
  throw new PackageRejected({ code, message });
}
