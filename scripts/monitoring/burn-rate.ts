/**
 * Declares the burn rate alerts. An alert fires when an objective's error budget is spent too fast, both in a
 * long window and in a short one. The short window stops the alert soon after the problem has ended.
 */
import type { Alert, AlertFactory } from './alert.ts';
import { type Objective, objectives, recordedCount, recordedRatio, type Window } from './objectives.ts';
import type { TimeScale } from './time-scale.ts';

interface Burn {
  /** Burn rate threshold: 1 spends the error budget of 30 days in 30 days. */
  times: number;
  long: Window;
  short: Window;
}

// the multiwindow, multi-burn-rate alerts of Google's Site Reliability Workbook, chapter 5
const fast: readonly Burn[] = [
  { times: 14.4, long: '1h', short: '5m' },
  { times: 6, long: '6h', short: '30m' },
];
const slow: readonly Burn[] = [
  { times: 3, long: '1d', short: '2h' },
  { times: 1, long: '3d', short: '6h' },
];

/** With fewer bad events per hour no alert fires: at night, one failed request of three would be 33 %. */
const minBadPerHour = 10;

/** Two alerts for each objective: a fast burn and a slow burn. */
export const burnRateAlerts: readonly AlertFactory[] = objectives.flatMap((objective) => {
  const { slo, isPaging, badEvents } = objective;
  const name = slo.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const share = '{{ $value | humanizePercentage }}';
  return [
    ({ duration }: TimeScale): Alert => ({
      name: `${name}ErrorBudgetBurnFast`,
      severity: isPaging ? 'page' : 'ticket',
      expr: `(${fast.map((burn) => burnExpression(objective, burn)).join('\nor ')})\nand ${recordedCount(slo)} > ${minBadPerHour}`,
      for: duration('2m'),
      summary: `Too many ${badEvents}: ${share}. At this rate the error budget of 30 days is spent within days.`,
    }),
    ({ duration }: TimeScale): Alert => ({
      name: `${name}ErrorBudgetBurnSlow`,
      severity: 'ticket',
      expr: slow.map((burn) => burnExpression(objective, burn)).join('\nor '),
      for: duration('1h'),
      summary: `Over a long time, too many ${badEvents}: ${share}. At this rate the error budget does not last 30 days.`,
    }),
  ];
});

function burnExpression({ slo, target }: Objective, { times, long, short }: Burn): string {
  const threshold = Number((times * (1 - target)).toPrecision(6));
  return `(${recordedRatio(slo, long)} > ${threshold} and ${recordedRatio(slo, short)} > ${threshold})`;
}
