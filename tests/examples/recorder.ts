/** Sends the example requests of the OpenAPI document and records the exchanges. */
import type { AnyOperation, Example } from '#libs/contract';
import { httpClient, must, requestOrThrow, type TestApp, type TestResponse } from '#libs/testing';
import { about } from '../../services/about.ts';
import { contracts } from '../../services/contracts.ts';
import type { Aliases } from './aliases.ts';
import type { DocumentedRequest } from './documented.ts';

/** An example request of a story, with the ids of the run. */
export interface StoryRequest extends DocumentedRequest {
  /** The credential. */
  as?: string;
  /** Media type of the response, if the operation has several. */
  accept?: string;
  /** The file of a form. */
  file?: { name: string; bytes: Uint8Array };
  /** Makes the example of a long response shorter. */
  shorten?: (body: TestResponse['body']) => unknown;
}

/** Sends requests for a story, some of which become examples. */
export interface Recorder {
  app: TestApp;
  aliases: Aliases;
  /** Sends an example request. Resolves with the body of the response; rejects without the declared 2xx. */
  example(id: string, request?: StoryRequest): Promise<TestResponse['body']>;
  /** Sends a request that is no example. `path` is relative to the API. Resolves with the body of the response. */
  prepare(as: string, method: string, path: string, body?: unknown): Promise<TestResponse['body']>;
  /** The exchanges so far, by the id of the operation. */
  recorded: Record<string, Example[]>;
}

const operations = new Map<string, AnyOperation>(
  contracts.flatMap((contract) => contract.operations).map((one) => [one.id, one]),
);

/**
 * Creates a recorder. It sends what `getRequest` returns for an operation: the documented example, in which ids are
 * replaced by those of the run. Without it, the requests of the story are sent.
 */
export function createRecorder(
  app: TestApp,
  aliases: Aliases,
  getRequest: ((id: string) => DocumentedRequest) | undefined,
): Recorder {
  const recorded: Record<string, Example[]> = {};
  return {
    app,
    aliases,
    recorded,
    async example(id, { as, accept, file, shorten, ...declared } = {}) {
      const operation = operations.get(id);
      if (!operation) throw new Error(`${id} is not an operation`);
      const request = aliases.toExample(declared);
      // the document shows only the first request of an operation
      const isShown = getRequest !== undefined && recorded[id] === undefined;
      const sent = isShown ? { ...declared, ...aliases.toReal(getRequest(id)) } : declared;
      const response = await requestOrThrow(
        httpClient(app.origin, { secrets: app.secrets }),
        operation.method.toUpperCase(),
        toPath(operation, sent),
        {
          as,
          status: operation.status,
          body: toBody(operation, sent.body, file),
          ...(accept && { headers: { accept } }),
        },
      );
      recorded[id] ??= [];
      recorded[id].push({ ...request, ...toRecordedResponse(response, shorten, aliases) });
      return response.body;
    },
    prepare: (as, method, path, body) => must(app, method, path, { as, body }),
  };
}

function toPath({ id, at, path }: AnyOperation, { params = {}, query = {} }: DocumentedRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The example of ${id} has no ${name}`);
    return encodeURIComponent(value);
  });
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one)]),
  );
  const search = pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
  return (at === 'root' ? '' : about.apiPrefix) + filled + search;
}

function toBody(operation: AnyOperation, body: unknown, file: StoryRequest['file']): unknown {
  if (file) return toForm(operation, body, file);
  const isForm = operation.body && 'form' in operation.body;
  return isForm ? new URLSearchParams(Object(body)) : body;
}

function toForm(
  { body }: AnyOperation,
  fields: unknown,
  file: { name: string; bytes: Uint8Array },
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(Object(fields))) form.append(name, String(value));
  form.append(body.file, new Blob([new Uint8Array(file.bytes)]), file.name);
  return form;
}

function toRecordedResponse(
  { headers, body, bytes }: TestResponse,
  shorten: StoryRequest['shorten'],
  aliases: Aliases,
): Pick<Example, 'response'> {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (bytes.length === 0) return {};
  if (type === 'application/json')
    return { response: { type, body: withoutTimings(aliases.toExample(shorten ? shorten(body) : body)) } };
  if (!type.startsWith('text/')) return {};
  const text = new TextDecoder().decode(bytes);
  // cut first: ids that the example does not show must not be counted, because their order can differ
  return { response: { type, body: aliases.toExample(type === 'text/markdown' ? text : cut(type, text)) } };
}

/** The start of a text: the columns of a table, a page until its title, or else the first 100 characters. */
function cut(type: string, text: string): string {
  const shown = type === 'text/csv' ? /^.*/ : /^[\s\S]*?<\/title>/;
  const [head] = shown.exec(text) ?? [text.slice(0, 100)];
  return head.length < text.length ? `${head}…` : text;
}

/** Every run takes another time. */
function withoutTimings(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) =>
    name === 'duration_ms' && value !== null ? 42 : value,
  );
}
