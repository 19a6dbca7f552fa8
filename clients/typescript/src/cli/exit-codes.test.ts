/** Tests exit codes and the texts of errors. */
import { expect, test } from '@jest/globals';
import { ConnectionError, ProblemError, TimeoutError } from '../errors.ts';
import { RequestValueError } from '../requests.ts';
import { CommandError, formatError, isFatal, toErrorFields, toExitCode, UsageError } from './exit-codes.ts';

const problem = (status: number, code = 'some_code') =>
  new ProblemError({ status, code, title: 'Title.', detail: 'Detail.', requestId: 'r1' });

test.each([
  [problem(400), 1],
  [problem(402), 1],
  [new Error('x'), 1],
  [problem(200, 'unexpected_response'), 1],
  [problem(404, 'unexpected_response'), 1],
  [new UsageError('x'), 2],
  [new RequestValueError('doc_id must not be "..".'), 2],
  [problem(401), 3],
  [problem(403), 3],
  [problem(404), 4],
  [problem(409), 5],
  [problem(412), 5],
  [problem(429), 6],
  [problem(503), 6],
  [problem(502, 'unexpected_response'), 6],
  [new ConnectionError('x'), 6],
  [new TimeoutError('x'), 6],
  [new CommandError('x', 130), 130],
])('the exit code of %s', (error, code) => {
  expect(toExitCode(error)).toBe(code);
});

test('only errors of one document let the others continue', () => {
  expect([400, 402, 403, 404, 409, 412, 413].filter((status) => isFatal(problem(status)))).toEqual([]);
  expect([401, 429, 500, 503].every((status) => isFatal(problem(status)))).toBe(true);
  expect(isFatal(new ConnectionError('x'))).toBe(true);
  expect(isFatal(problem(404, 'unexpected_response'))).toBe(true);
});

test('a text names the code and the request, and says what to do', () => {
  expect(formatError(problem(401, 'unauthenticated'))).toBe(
    'Detail.\n(unauthenticated, request r1)\nRun `pds login`, or set PDS_KEY to a valid API key.',
  );
  expect(formatError(problem(401, 'wrong_credentials'))).toBe('Detail.\n(wrong_credentials, request r1)');
  expect(formatError(new ConnectionError('No response.'))).toContain('Check the address');
});

test('the JSON of an error has its exit code', () => {
  expect(toErrorFields(problem(404))).toMatchObject({ status: 404, request_id: 'r1', exit_code: 4 });
  expect(toErrorFields(new UsageError('ID is missing'))).toEqual({ detail: 'ID is missing', exit_code: 2 });
});
