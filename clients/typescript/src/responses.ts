/** Reads responses: the data of a success, or the problem. */
import { toDownload } from './download.ts';
import { ProblemError } from './errors.ts';
import type { InputError } from './generated/contract.ts';
import type { ApiResponse, NotModified } from './operation-types.ts';
import type { OperationFacts } from './requests.ts';
import { parseRetryAfter } from './retries.ts';

/**
 * Reads a response. Rejects with a `ProblemError`, or with the error of the connection while it reads.
 * `signal` is that of the call, which also ends a download.
 */
export async function readResponse(
  response: Response,
  { returns, isHtml = false }: Pick<OperationFacts, 'returns' | 'isHtml'>,
  signal?: AbortSignal,
): Promise<ApiResponse<unknown> | NotModified> {
  const { status, headers } = response;
  const facts = {
    status,
    headers,
    etag: headers.get('etag') ?? undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    isReplayed: headers.get('idempotency-replayed') === 'true',
  };
  if (status === 304) return { ...facts, isModified: false, data: undefined };
  if (!response.ok) throw await readProblem(response);
  if (returns === 'file' && (isHtml || !isPage(headers)))
    return { ...facts, isModified: true, data: toDownload(response, signal) };
  if (returns !== 'file' && status === 204) {
    await response.arrayBuffer();
    return { ...facts, isModified: true, data: undefined };
  }
  const text = await response.text();
  const data = returns === 'json' && isJson(headers) ? parse(text) : undefined;
  if (data === undefined) throw toUnexpected(response, text);
  return { ...facts, isModified: true, data };
}

async function readProblem(response: Response): Promise<ProblemError> {
  const text = await response.text();
  const body = isJson(response.headers) ? parse(text) : undefined;
  if (typeof body !== 'object' || body === null || !('code' in body) || typeof body.code !== 'string')
    return toUnexpected(response, text);
  const { title, detail, errors, request_id: requestId, ...others } = body as Record<string, unknown>;
  return new ProblemError({
    status: response.status,
    code: body.code,
    title: typeof title === 'string' ? title : body.code,
    detail: typeof detail === 'string' ? detail : body.code,
    errors: Array.isArray(errors) ? errors.filter(isInputError) : [],
    requestId:
      typeof requestId === 'string' ? requestId : (response.headers.get('x-request-id') ?? undefined),
    retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
    members: { ...others, title, detail, errors, request_id: requestId },
  });
}

/** The problem of a response that the service does not send, but for example a proxy or another server. */
export function toUnexpected(
  { status, type, headers }: Pick<Response, 'status' | 'headers'> & Partial<Pick<Response, 'type'>>,
  text: string,
): ProblemError {
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400);
  const target = headers.get('location');
  const start = text.trim().slice(0, 200);
  return new ProblemError({
    status,
    code: 'unexpected_response',
    title: 'The response does not come from the service.',
    detail: isRedirect
      ? `The server redirects${target ? ` to ${target}` : ''}. Use the final address of the service as the URL.`
      : `The server responded with status ${status} and ${headers.get('content-type') ?? 'no content'}, not as ` +
        `the service does. Check the URL and the proxies.${start ? ` The response begins with: ${start}` : ''}`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after'), Date.now()),
  });
}

/** Whether the content is a page, such as that of a proxy where people log in. */
function isPage(headers: Headers): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '');
}

function isJson(headers: Headers): boolean {
  return /[/+]json\b/.test(headers.get('content-type') ?? '');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isInputError(value: unknown): value is InputError {
  return typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
}
