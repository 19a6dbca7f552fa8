/** The exit codes of `pds`, and how errors are shown. */
import { ConnectionError, ProblemError } from '../errors.ts';
import { RequestValueError } from '../requests.ts';

/** The exit codes. docs/cli.md documents them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notAuthorized: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  interrupted: 130,
} as const;

/** The arguments are wrong. The message says what to do. */
export class UsageError extends Error {}

/** A command cannot continue. The message says what to do. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = exitCodes.failed, options?: { cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A command cannot process one file. Others are not affected. */
export class FileError extends CommandError {}

/** The exit code of an error. */
export function toExitCode(error: unknown): number {
  if (error instanceof UsageError || error instanceof RequestValueError) return exitCodes.usage;
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConnectionError) return exitCodes.unavailable;
  if (!(error instanceof ProblemError)) return exitCodes.failed;
  const { status, code } = error;
  if (status === 401 || status === 403) return exitCodes.notAuthorized;
  if (status === 429 || [502, 503, 504].includes(status)) return exitCodes.unavailable;
  if (code === 'unexpected_response') return exitCodes.failed;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 412) return exitCodes.conflict;
  return exitCodes.failed;
}

/** Whether the same error would meet every further request. */
export function isFatal(error: unknown): boolean {
  if (error instanceof FileError) return false;
  if (!(error instanceof ProblemError)) return true;
  return (
    error.status === 401 ||
    error.status === 429 ||
    error.status >= 500 ||
    error.code === 'unexpected_response'
  );
}

/** The message of an error: what is wrong, and what to do. */
export function formatError(error: unknown): string {
  if (error instanceof ProblemError) {
    const { message, code, requestId } = error;
    const hint = getHint(error);
    return [message, `(${code}${requestId ? `, request ${requestId}` : ''})`, hint]
      .filter(Boolean)
      .join('\n');
  }
  if (error instanceof ConnectionError)
    return `${error.message}\nCheck the address (--url, PDS_URL) and the network, then try again.`;
  return error instanceof Error ? error.message : String(error);
}

/** How to repair a problem with `pds`, if its own text does not say it. */
function getHint({ code, members }: ProblemError): string | undefined {
  // a wrong password has another code
  if (code === 'unauthenticated') return 'Run `pds login`, or set PDS_KEY to a valid API key.';
  return members.reason === 'tracked_changes' ? 'With --accept-changes, pds accepts them.' : undefined;
}

/** The fields of an error for `--json`. */
export function toErrorFields(error: unknown): Record<string, unknown> {
  const exit_code = toExitCode(error);
  if (!(error instanceof ProblemError)) return { detail: formatError(error), exit_code };
  const { status, code, title, detail, errors, requestId: request_id } = error;
  return { status, code, title, detail, errors, request_id, exit_code };
}
