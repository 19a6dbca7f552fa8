/** Tests for the settings of all services: no number may be negative, and no time limit zero. */
import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { commonSettings } from '#libs/service';
import { services } from './services.ts';

const schemas = [commonSettings, ...services.map(({ settings }) => settings)];
const settings = schemas.flatMap((schema) =>
  Object.entries<z.ZodType>(schema.shape).map(([name, setting]) => ({ name, setting })),
);
const accepts = (setting: z.ZodType, value: string) => setting.safeParse(value).success;
/** A setting is a number, or a list of numbers, if two numbers are the only kind of text that it accepts. */
const numbers = settings.filter(
  ({ setting }) =>
    ['1', '40', '1,40'].some((value) => accepts(setting, value)) && !accepts(setting, 'x.example'),
);

describe('settings of all services', () => {
  test('no number may be negative or too large for a timer', () => {
    expect(numbers.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'PORT',
        'LOGINS_PER_MINUTE',
        'EXPORT_WORKERS',
        'WEBHOOK_RETRY_SCHEDULE_SECONDS',
      ]),
    );
    for (const { name, setting } of numbers) {
      const accepted = ['-1', '-1,40', '1,-1'].filter((value) => accepts(setting, value));
      const tooLong = name.endsWith('_SECONDS') ? ['9999999', '1,9999999'] : [];
      expect([name, ...accepted, ...tooLong.filter((value) => accepts(setting, value))]).toEqual([name]);
    }
  });

  test('no time limit and no size may be zero', () => {
    const limits = numbers.filter(({ name }) => /_(TIMEOUT|DRAIN|MB|DAYS)|BREAKER|^DRAIN/.test(name));
    expect(limits.length).toBeGreaterThan(8);
    for (const { name, setting } of limits)
      expect([name, ...['0', '0,0', '0.0'].filter((value) => accepts(setting, value))]).toEqual([name]);
  });
});
