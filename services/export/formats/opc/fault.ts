/** A refusal of an upload: what is wrong, in a sentence that tells the uploader what to do. */

/** `code` is stable and snake_case; `message` is one sentence for the uploader. */
export type TemplateFault = { code: string; message: string };

/** Thrown inside the compile step only; `compileTemplate` turns it into its answer. */
export class Refused extends Error {
  readonly fault: TemplateFault;

  constructor(fault: TemplateFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Refuses the upload. */
export function refuse(code: string, message: string): never {
  throw new Refused({ code, message });
}
