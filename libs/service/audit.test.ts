/** What is in the log whatever its level, and what never is. */
import { describe, expect, test } from '@jest/globals';
import { securityLog, systemAuditEvent } from './audit.ts';
import { createLog } from './log.ts';

function stage(level: string) {
  const lines: string[] = [];
  const log = createLog({ level, format: 'json', destination: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

describe('the security log', () => {
  test.each(['info', 'error', 'fatal'])('has its lines when LOG_LEVEL says %s', (level) => {
    const { log, lines } = stage(level);
    securityLog(log)(systemAuditEvent('signing_key.create', 'system', { kid: '1' }));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ audit: true, event: 'signing_key.create', actor_id: 'system', kid: '1' }),
    ]);
  });

  test('is silent when LOG_LEVEL says so', () => {
    const { log, lines } = stage('silent');
    securityLog(log)(systemAuditEvent('signing_key.create', 'system', {}));
    expect(lines).toEqual([]);
  });
});

describe('an error in the log', () => {
  const told = (error: unknown) => {
    const { log, lines } = stage('info');
    log.error({ err: error }, 'It failed');
    return JSON.parse(lines[0] ?? '').err;
  };

  test('says what it is, where it happened and why, but nothing else that hangs on it', () => {
    const cause = Object.assign(new Error('E11000'), { code: 11000, writeErrors: [{ op: { secret: 'x' } }] });
    const { stack, ...rest } = told(new TypeError('No row', { cause }));
    expect(stack).toContain('audit.test.ts');
    expect(rest).toEqual({
      ...{ type: 'TypeError', message: 'No row' },
      cause: { type: 'Error', message: 'E11000', code: 11000, stack: expect.any(String) },
    });
  });

  test('is told with all errors in it, and of one that is its own cause there is an end', () => {
    const many = new AggregateError([new Error('one'), 'two'], 'Both failed');
    expect(told(many).errors).toEqual([expect.objectContaining({ message: 'one' }), { message: 'two' }]);
    const round = new Error('round');
    round.cause = round;
    expect(JSON.stringify(told(round)).match(/"message":"round"/g)).toHaveLength(6);
  });
});
