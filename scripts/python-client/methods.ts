/** Renders the methods of the Python client: four classes, which return data, responses, items and pages. */
import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  getFacts,
  listClientOperations,
  listSuccesses,
  type OperationFacts,
  resolveReference,
} from '../api-document.ts';
import { toAnnotation, toParameterAnnotation, toSnakeCase } from './annotations.ts';

interface Method {
  operation: ApiOperation;
  facts: OperationFacts;
  parameters: ApiParameter[];
  /** The arguments `body` and its annotation, if the operation has a body. */
  body: string | undefined;
  result: string;
}

/** The options of calls by the header that they send. */
const options = { 'Idempotency-Key': 'idempotency_key', 'If-Match': 'if_match' } as const;
const conditional = 'If-None-Match';
const reserved = new Set([
  'self',
  'body',
  'timeout',
  'password',
  'if_none_match',
  'from',
  'class',
  'global',
  'import',
]);

/** Renders the module `_methods`. */
export function renderMethods(document: ApiDocument): string {
  const methods = listClientOperations(document).map((entry) => readMethod(document, entry));
  const paged = methods.filter(({ facts }) => facts.isPaged);
  return `"""The operations of the API as methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, overload
from uuid import UUID

from . import models
from ._calls import Methods
from ._download import Download
from ._pages import list_items, list_pages
from ._requests import CallOptions
from ._responses import ApiResponse, NotModified


class DataMethods(Methods):
    """All operations as methods that return the data."""

${methods.map(renderDataMethod).join('\n')}

class ResponseMethods(Methods):
    """All operations as methods that return the data with the headers."""

${methods.map(renderResponseMethod).join('\n')}

class ItemMethods(Methods):
    """The lists as methods that iterate over all items."""

${paged.map((method) => renderListMethod(method, 'items')).join('\n')}

class PageMethods(Methods):
    """The lists as methods that iterate over the pages."""

${paged.map((method) => renderListMethod(method, 'pages')).join('\n')}`;
}

function readMethod(
  document: ApiDocument,
  entry: { method: string; path: string; operation: ApiOperation },
): Method {
  const { operation } = entry;
  const facts = getFacts(document, entry);
  const parameters = (operation.parameters ?? []).map((parameter) => resolveReference(document, parameter));
  for (const { name, in: place } of parameters)
    if (place !== 'header' && (reserved.has(name) || !/^[a-z_]+$/.test(name)))
      throw new Error(`${operation.operationId}: a Python method cannot have the parameter "${name}".`);
  const request = operation.requestBody && resolveReference(document, operation.requestBody);
  const [content] = Object.values(request?.content ?? {});
  const type = content && toAnnotation(content.schema);
  const body = type && (request?.required ? `body: ${type}` : `body: ${type} | None = None`);
  return { operation, facts, parameters, body, result: getResult(document, operation, facts) };
}

function getResult(document: ApiDocument, operation: ApiOperation, { returns }: OperationFacts): string {
  if (returns === 'nothing') return 'None';
  if (returns === 'file') return 'Download';
  const schemas = listSuccesses(document, operation).map(
    ([, { content }]) => content?.['application/json']?.schema,
  );
  return [...new Set(schemas.flatMap((schema) => (schema ? [toAnnotation(schema)] : [])))].join(' | ');
}

function renderDataMethod(method: Method): string {
  const { overloads, result } = renderFormats(method, (data) => data);
  return `${overloads}${renderHead(method, result)}
        result: ApiResponse[${result}] = self._call(${renderCall(method)})
        return result.data
`;
}

function renderResponseMethod(method: Method): string {
  const plain = `ApiResponse[${method.result}]`;
  if (!method.parameters.some(({ name }) => name === conditional)) {
    const { overloads, result } = renderFormats(method, (data) => `ApiResponse[${data}]`);
    return `${overloads}${renderHead(method, result)}
        result: ${result} = self._call(${renderCall(method)})
        return result
`;
  }
  const either = `${plain} | NotModified`;
  return `    @overload
${renderSignature(method, plain)} ...

    @overload
${renderSignature(method, either, 'if_none_match: str')} ...

${renderHead(method, either, 'if_none_match: str | None = None')}
        result: ${either} = self._call(${renderCall(method, 'if_none_match=if_none_match')})
        return result
`;
}

/** What a method returns. If the parameter `format` decides, it has a signature for each. */
function renderFormats(
  method: Method,
  wrap: (data: string) => string,
): { overloads: string; result: string } {
  const json = wrap(method.result);
  if (!method.facts.hasCsv) return { overloads: '', result: json };
  const csv = wrap('Download');
  const overloads = [
    [withFormat(method, 'csv'), csv] as const,
    [withFormat(method, 'json'), json] as const,
  ].map(([one, result]) => `    @overload\n${renderSignature(one, result)} ...\n\n`);
  return { overloads: overloads.join(''), result: `${json} | ${csv}` };
}

/** The method with one value of its parameter `format`. Without it, the service sends JSON. */
function withFormat(method: Method, format: 'csv' | 'json'): Method {
  const only = { schema: { type: 'string', enum: [format] }, required: format === 'csv' };
  const parameters = method.parameters.map((one) => (one.name === 'format' ? { ...one, ...only } : one));
  return { ...method, parameters };
}

function renderListMethod(listed: Method, kind: 'items' | 'pages'): string {
  const method = listed.facts.hasCsv ? withFormat(listed, 'json') : listed;
  const one = kind === 'pages' ? method.result : method.result.replace(/^list\[(.*)\]$/, '$1');
  return `${renderHead(method, `Iterator[${one}]`)}
        return list_${kind}(self._call, ${renderCall(method)})
`;
}

/** The signature and the description. */
function renderHead(method: Method, result: string, more?: string): string {
  const { summary, description } = method.operation;
  const text = [summary, description].flatMap((part) => (part ? [part] : [])).join('\n\n');
  const lines = escapeText(text).split('\n');
  const indented = lines.map((line) => (line ? `        ${line}` : '')).join('\n');
  const doc = lines.length === 1 ? `        """${lines[0]}"""` : `        """\n${indented}\n        """`;
  return `${renderSignature(method, result, more)}\n${doc}`;
}

function renderSignature(method: Method, result: string, more?: string): string {
  const { parameters, body } = method;
  const inPath = parameters.filter(({ in: place }) => place === 'path');
  const inQuery = parameters.filter(({ in: place }) => place === 'query');
  const declare = ({ name, schema, required }: ApiParameter) =>
    `${name}: ${toParameterAnnotation(schema)}${required ? '' : ' | None = None'}`;
  const given = listOptions(method).map((name) => `${name}: str | None = None`);
  const isRequired = (argument: string) => !argument.includes(' = ');
  const named = [body, ...inQuery.map(declare), more, ...given].flatMap((argument) => argument ?? []);
  const keywords = [...named.filter(isRequired), ...named.filter((argument) => !isRequired(argument))];
  const all = ['self', ...inPath.map(declare), '*', ...keywords, 'timeout: float | None = None'];
  const name = toSnakeCase(method.operation.operationId);
  return `    def ${name}(\n${all.map((argument) => `        ${argument},\n`).join('')}    ) -> ${result}:`;
}

function renderCall(method: Method, more?: string): string {
  const { operation, parameters, body } = method;
  const given = parameters.filter(({ in: place }) => place !== 'header');
  const pairs = given.map(({ name }) => `"${name}": ${name}`).join(', ');
  const named = [...(body ? ['body'] : []), ...listOptions(method), 'timeout'];
  const args = [`{${pairs}}`, ...named.map((name) => `${name}=${name}`), ...(more ? [more] : [])];
  return `"${operation.operationId}", CallOptions(${args.join(', ')})`;
}

function listOptions({ parameters, facts }: Method): string[] {
  const headers = new Set(parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name));
  const ofHeaders = Object.entries(options).flatMap(([header, name]) => (headers.has(header) ? [name] : []));
  return [...ofHeaders, ...(facts.takesPassword ? ['password'] : [])];
}

/** The text in a string with three quotes. */
function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"');
}
