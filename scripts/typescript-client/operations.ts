/** Renders the operations of the OpenAPI document as a table, with what the client must know to send them. */
import {
  type ApiDocument,
  getFacts,
  listClientOperations,
  listCodes,
  listOperations,
  listSuccesses,
} from '../api-document.ts';

/** A copy without the responses of errors and without response headers: the client has its own types for them. */
export function withoutErrorResponses(document: ApiDocument): ApiDocument {
  const copy = structuredClone(document);
  for (const { operation } of listOperations(copy))
    operation.responses = Object.fromEntries(
      listSuccesses(document, operation).map(([status, { headers: _, ...response }]) => [status, response]),
    );
  if (copy.components) {
    copy.components.responses = {};
    copy.components.headers = {};
  }
  return copy;
}

/** Renders the table of the operations, an interface with their descriptions, and the codes of all problems. */
export function renderOperations(document: ApiDocument): string {
  const entries = listClientOperations(document).map((entry) => ({
    operation: entry.operation,
    facts: getFacts(document, entry),
  }));
  const types = entries.map(
    ({ operation: { operationId, summary, description } }) =>
      `${comment([summary, description])}  ${operationId}: operations['${operationId}'];\n`,
  );
  const rows = entries.map(
    ({ operation, facts }) => `  ${operation.operationId}: ${JSON.stringify(facts)},\n`,
  );
  return `/** The operations of the API. */
import type { operations } from './contract.ts';

/** The version of the API that this client was generated from. */
export const apiVersion = ${JSON.stringify(document.info.version)};

/** The operations by their ids. */
export interface Operations {
${types.join('')}}

/** How to send each operation. */
export const operationTable = {
${rows.join('')}} as const;

/** The operations that accept the password of a public link. */
export type PasswordOperationId = ${entries
    .filter(({ facts }) => facts.takesPassword)
    .map(({ operation }) => JSON.stringify(operation.operationId))
    .join(' | ')};

/** The codes of all problems in the contract. */
export type KnownProblemCode = ${listCodes(document)
    .map((code) => JSON.stringify(code))
    .join(' | ')};
`;
}

function comment(texts: (string | undefined)[]): string {
  const lines = texts.flatMap((text) => (text ? [...text.replaceAll('*/', '*\\/').split('\n'), ''] : []));
  return `  /**\n${lines
    .slice(0, -1)
    .map((line) => `   * ${line}`.trimEnd())
    .join('\n')}\n   */\n`;
}
