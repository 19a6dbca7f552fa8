/** The task of the worker that parses large request bodies: parsing and validating 32 MiB takes seconds. */
import type { AnyOperation } from './contract.ts';
import { type JsonBody, parseJsonBody } from './json-body.ts';

/** The tasks by name. */
export type BodyTasks = ReturnType<typeof createBodyTasks>;

/** Creates the tasks for the bodies of these operations. */
export function createBodyTasks(operations: readonly AnyOperation[]) {
  const shapes = new Map(operations.map(({ id, body }) => [id, body]));
  return {
    /** Parses the JSON body of an operation. */
    async parse({ operation, bytes }: { operation: string; bytes: Uint8Array }): Promise<JsonBody> {
      const shape = shapes.get(operation);
      if (!shape || 'file' in shape || 'form' in shape) throw new Error(`${operation} has no JSON body`);
      return parseJsonBody(shape, bytes);
    },
  };
}
