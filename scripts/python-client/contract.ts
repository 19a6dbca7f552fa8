/** Renders what the Python client must know of the OpenAPI document: version, problem codes, events, operations. */
import { type ApiDocument, getFacts, listClientOperations, listCodes } from '../api-document.ts';
import { toAnnotation } from './annotations.ts';

/** Renders the module `_contract`. */
export function renderContract(document: ApiDocument): string {
  const events = Object.values(document.webhooks ?? {}).map(({ post: { requestBody } }) => {
    const content = requestBody && 'content' in requestBody ? requestBody.content : undefined;
    return toAnnotation(content?.['application/json']?.schema ?? {});
  });
  const rows = listClientOperations(document).map((entry) => {
    const facts = getFacts(document, entry);
    const args = [
      ...[facts.method, facts.path].map((text) => JSON.stringify(text)),
      ...(facts.body === 'none' ? [] : [`body="${facts.body}"`]),
      ...(facts.returns === 'nothing' ? [] : [`returns="${facts.returns}"`]),
      ...(facts.takesIdempotencyKey ? ['takes_idempotency_key=True'] : []),
      ...(facts.hasCsv ? ['has_csv=True'] : []),
      ...(facts.isHtml ? ['is_html=True'] : []),
      ...(facts.isPublic ? ['is_public=True'] : []),
      ...(facts.takesPassword ? ['takes_password=True'] : []),
    ];
    return `    ${JSON.stringify(entry.operation.operationId)}: Operation(${args.join(', ')}),\n`;
  });
  const codes = listCodes(document).map((code) => `    ${JSON.stringify(code)},\n`);
  return `"""What the contract says about the API."""

from __future__ import annotations

from typing import Literal, TypeAlias, Union

from . import models
from ._requests import Operation

API_VERSION = ${JSON.stringify(document.info.version)}
"""The version of the API that this client was generated from."""

KnownProblemCode: TypeAlias = Literal[
${codes.join('')}]
"""The codes of all problems in the contract."""

WebhookEventPayload: TypeAlias = Union[
${events.map((event) => `    ${event},\n`).join('')}]
"""The bodies of all events."""

OPERATIONS: dict[str, Operation] = {
${rows.join('')}}
"""How to send each operation."""
`;
}
