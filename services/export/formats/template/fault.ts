/** The faults for which an uploaded template is rejected: those of its package, and those of its placeholders. */
import { type PackageFaultCode, packageFaultCodes } from '#libs/opc';

/** Values of `reason` in a rejection. They are stable; docs/word-templates.md explains each. */
export const faultCodes = [
  ...packageFaultCodes,
  'content_place',
  'content_twice',
  'fields_too_deep',
  'too_many_placeholders',
] as const;

type FaultCode = (typeof faultCodes)[number];

/** Why a template is rejected; `message` tells the uploader what is wrong and what to do. */
export type TemplateFault = { code: FaultCode; message: string };

/** Thrown by the compiler for a fault of the template; one of its package is `PackageRejected`. */
export class TemplateRejected extends Error {
  readonly fault: TemplateFault;

  constructor(fault: TemplateFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Rejects the template. Errors: always `TemplateRejected`. */
export function reject(code: Exclude<FaultCode, PackageFaultCode>, message: string): never {
  throw new TemplateRejected({ code, message });
}
