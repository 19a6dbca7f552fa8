/** The `Location` header: the path of a created resource, from the operation's declaration. */
import type { AnyOperation } from '#libs/contract';
import type { Rendered } from './responses.ts';

/** Adds the `Location` header with an absolute path, if the operation declares one. */
export function addLocation(
  operation: AnyOperation,
  params: unknown,
  apiPrefix: string,
  rendered: Rendered,
): Rendered {
  const { location } = operation;
  if (location === undefined) return rendered;
  const pathParameters = new Map(Object.entries(params ?? {}));
  const path = location.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(pathParameters.get(name) ?? getId(rendered.body))),
  );
  return { ...rendered, headers: { ...rendered.headers, Location: apiPrefix + path } };
}

/** Returns the id in a response. It is usually the first member, so a large document is not parsed. */
function getId(body: Rendered['body']): string {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new Error('Only a JSON response can have a Location header');
  const head = Buffer.from(body.slice(0, 100)).toString('utf8');
  const [, id] = /^\{"id":"([\w-]+)"/.exec(head) ?? [];
  return id ?? JSON.parse(Buffer.from(body).toString('utf8')).id;
}
