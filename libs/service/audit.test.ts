/** Tests for the security log and for errors in the log. */
import { describe, expect, test } from '@jest/globals';
import { securityLog, systemAuditEvent } from './audit.ts';
import { createLog } from './log.ts';

function logFixture(level: string) {
  const lines: string[] = [];
  const log = createLog({ level, format: 'json', destination: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

describe('the security log', () => {
  test.each(['info', 'error', 'fatal'])('writes its lines at LOG_LEVEL %s', (level) => {
    const { log, lines } = logFixture(level);
    securityLog(log)(systemAuditEvent('signing_key.create', 'system', { kid: '1' }));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ audit: true, event: 'signing_key.create', actor_id: 'system', kid: '1' }),
    ]);
  });

  test('writes nothing at LOG_LEVEL silent', () => {
    const { log, lines } = logFixture('silent');
    securityLog(log)(systemAuditEvent('signing_key.create', 'system', {}));
    expect(lines).toEqual([]);
  });
});

describe('an error in the log', () => {
  const logError = (error: unknown) => {
    const { log, lines } = logFixture('info');
    log.error({ err: error }, 'It failed');
    return JSON.parse(lines[0] ?? '').err;
  };

  test('has type, message, code, stack and cause, but no other fields', () => {
    const cause = Object.assign(new Error('E11000'), { code: 11000, writeErrors: [{ op: { secret: 'x' } }] });
    const { stack, ...rest } = logError(new TypeError('No row', { cause }));
    expect(stack).toContain('audit.test.ts');
    expect(rest).toEqual({
      ...{ type: 'TypeError', message: 'No row' },
      cause: { type: 'Error', message: 'E11000', code: 11000, stack: expect.any(String) },
    });
  });

  test('has its inner errors, and circular causes are cut off', () => {
    const many = new AggregateError([new Error('one'), 'two'], 'Both failed');
    expect(logError(many).errors).toEqual([expect.objectContaining({ message: 'one' }), { message: 'two' }]);
    const circular = new Error('circular');
    circular.cause = circular;
    expect(JSON.stringify(logError(circular)).match(/"message":"circular"/g)).toHaveLength(6);
  });
});
