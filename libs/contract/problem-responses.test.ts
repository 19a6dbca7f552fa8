/** Tests that operations share equal error responses in the API reference. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { apiReference } from '../../services/api-reference.ts';
import { contracts } from '../../services/contracts.ts';
import { anyone } from './access.ts';
import { openapi } from './openapi.ts';
import { operation } from './operation.ts';
import { problem } from './problem.ts';
import { sharedProblemResponses, toProblemResponses } from './problem-responses.ts';
import * as problems from './problems.ts';

const operations = contracts.flatMap((contract) => contract.operations);
const shared = sharedProblemResponses(operations);
const names = Object.keys(shared);

describe('the error responses of all contracts', () => {
  const responses = operations.flatMap((one) => Object.values(toProblemResponses(one, shared)));

  test('two error responses are never equal unless they are references', () => {
    const inline = responses.filter((response) => !('$ref' in response));
    const texts = [...inline, ...Object.values(shared)].map((response) => JSON.stringify(response));
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
  });

  test('at least two operations refer to each shared response', () => {
    const uses = Map.groupBy(responses, ({ $ref }) => $ref);
    const isUsedTwice = (name: string) => (uses.get(`#/components/responses/${name}`)?.length ?? 0) > 1;
    expect(names.filter((name) => !isUsedTwice(name))).toEqual([]);
  });

  test('the document contains the shared responses', () => {
    const document = openapi(contracts, apiReference);
    expect(document.components).toHaveProperty('responses', shared);
    expect(document.components).not.toHaveProperty('responses', {});
  });

  test('a shared response is named after its problems', () => {
    expect(names).toEqual(
      expect.arrayContaining([
        'Unauthenticated',
        'InvalidRequestOrMalformedJson',
        'ForbiddenOrScalePlanRequired',
      ]),
    );
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
  });

  test('shared responses do not depend on the order of operations', () => {
    expect(JSON.stringify(sharedProblemResponses(operations.toReversed()))).toBe(JSON.stringify(shared));
  });
});

describe('the error responses of two operations', () => {
  const base = {
    id: 'a',
    method: 'get',
    path: '/x',
    summary: 's',
    access: anyone,
    status: 200,
    returns: z.string(),
    problems: [problems.NotFound],
  } as const;
  const plain = operation(base);

  test('a response is shared if both have the same problems of its status', () => {
    const other = operation({ ...base, id: 'b', problems: [problems.NotFound, problems.Forbidden] });
    const both = sharedProblemResponses([plain, other]);
    expect(Object.keys(both)).toEqual([
      'InvalidRequest',
      'NotFound',
      'TooManyRequests',
      'HeadersTooLarge',
      'Internal',
      'Unavailable',
    ]);
    const responses = toProblemResponses(other, both);
    expect(responses[404]).toEqual({ $ref: '#/components/responses/NotFound' });
    expect(responses[403]).toHaveProperty('description', expect.stringContaining('`forbidden`'));
  });

  test('a response is not shared if only one has a further problem', () => {
    const expired = problem('link_expired', 404, 'The link has expired.');
    const other = operation({ ...base, id: 'b', problems: [problems.NotFound, expired] });
    const both = sharedProblemResponses([plain, other]);
    expect(Object.keys(both)).toEqual([
      'InvalidRequest',
      'TooManyRequests',
      'HeadersTooLarge',
      'Internal',
      'Unavailable',
    ]);
    expect(toProblemResponses(other, both)[404]).toHaveProperty('content');
  });

  test('a response with an HTML page is shared only with other pages', () => {
    const page = operation({ ...base, id: 'b', problemPages: true });
    expect(sharedProblemResponses([plain, page])).toEqual({});
    const both = sharedProblemResponses([page, operation({ ...base, id: 'c', problemPages: true })]);
    expect(both.NotFoundPage?.content).toHaveProperty(['text/html']);
  });
});
