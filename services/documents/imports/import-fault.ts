/** The faults for which a file is not imported. */

/** Values of `reason` in `import_invalid`. They are stable; docs/import.md explains each. */
export const importReasons = [
  'unknown_format',
  'not_utf8',
  'malformed',
  'bomb',
  'macros',
  'password_protected',
  'legacy_doc',
  'tracked_changes',
  'several_documents',
  'bad_manifest',
] as const;

export type ImportReason = (typeof importReasons)[number];

/** Which limit a file exceeds: of the file's size, of one import, of one document. */
export type ImportLimit = 'file_too_large' | 'import_too_large' | 'too_many_nodes' | 'content_too_large';

/** Why a file is not imported; `message` tells the caller what is wrong and what to do. */
export type ImportFault = { message: string } & ({ reason: ImportReason } | { limit: ImportLimit });

/** Is thrown by the conversion, which returns the fault. */
export class ImportRejected extends Error {
  readonly fault: ImportFault;

  constructor(fault: ImportFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Rejects the file. Errors: always `ImportRejected`. */
export function rejectImport(reason: ImportReason, message: string): never {
  throw new ImportRejected({ reason, message });
}

/** Rejects a file that exceeds a limit. Errors: always `ImportRejected`. */
export function rejectSize(limit: ImportLimit, message: string): never {
  throw new ImportRejected({ limit, message });
}
