/** Tests that the log of a mongod that could not start becomes a clear error. */
import { expect, test } from '@jest/globals';
import { explainFailure } from './data-dir.ts';

const exitLine = (code: number) =>
  `{"s":"I","c":"CONTROL","id":23138,"msg":"Shutting down","attr":{"exitCode":${code}}}`;

test.each([
  ['data_dir_in_use', exitLine(100)],
  ['data_dir_in_use', '{"s":"E","attr":{"error":"DBPathInUse: Unable to lock the lock file"}}'],
  ['data_dir_version', exitLine(62)],
  ['disk_full', `{"s":"F","attr":{"error":"No space left on device"}}\n${exitLine(14)}`],
  ['mongod_failed', exitLine(14)],
  ['mongod_failed', ''],
])('a failed start is explained as %s', (code, log) => {
  expect(explainFailure(log, '/data')).toMatchObject({ code, message: expect.stringContaining('/data') });
});

test('the error shows the end of a log that will be removed', () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  const { code, message } = explainFailure(`${lines.join('\n')}\n    at stack:1\n`, '/tmp/data', {
    isTemporary: true,
  });
  expect(code).toBe('mongod_failed');
  expect(message.split('\n')).toEqual([expect.stringContaining('/tmp/data'), ...lines.slice(10)]);
  expect(explainFailure('line', '/data').message).toContain('/data/mongod.log');
});
