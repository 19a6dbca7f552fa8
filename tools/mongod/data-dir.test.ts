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
