/** `Location`: where what a request created can be read, filled in from the operation's declaration. */
import type { AnyOperation } from '#libs/contract';
import type { Rendered } from './responses.ts';

/** Adds the address of what was created, as an absolute path, where the operation declares one. */
export function addLocation(
  operation: AnyOperation,
  params: unknown,
  apiPrefix: string,
  rendered: Rendered,
): Rendered {
  const { location } = operation;
  if (location === undefined) return rendered;
  const known = new Map(Object.entries(params ?? {}));
  const path = location.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(known.get(name) ?? getId(rendered.body))),
  );
  return { ...rendered, headers: { ...rendered.headers, Location: apiPrefix + path } };
}

/** The id in a response: mostly its first member, so that a large document need not be parsed. */
function getId(body: Rendered['body']): string {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new Error('Only a JSON response can have a Location');
  const head = Buffer.from(body.slice(0, 100)).toString('utf8');
  const [, id] = /^\{"id":"([\w-]+)"/.exec(head) ?? [];
  return id ?? JSON.parse(Buffer.from(body).toString('utf8')).id;
}
