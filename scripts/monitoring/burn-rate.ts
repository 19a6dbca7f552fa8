/** Burn rates: an alert when the budget of an objective is spent faster than it lasts, over a long window and a short one that says that it goes on. */
import type { Alert } from './alerts.ts';
import { type Objective, objectives, recorded, recordedCount, type Window } from './objectives.ts';
import type { TimeScale } from './time-scale.ts';

interface Burn {
  /** How many times faster than the budget of 30 days lasts. */
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

/** Fewer bad ones in an hour say nothing: at night one of three requests is a third. */
const least = 10;

/** Two alerts for each objective. */
export const burning: readonly ((pace: TimeScale) => Alert)[] = objectives.flatMap((objective) => {
  const { slo, wakes, bad } = objective;
  const name = slo.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const share = '{{ $value | humanizePercentage }}';
  return [
    ({ lasting }: TimeScale): Alert => ({
      name: `${name}ErrorBudgetBurnFast`,
      severity: wakes ? 'page' : 'ticket',
      expr: `(${fast.map((burn) => burns(objective, burn)).join('\nor ')})\nand ${recordedCount(slo)} > ${least}`,
      for: lasting('2m'),
      summary: `Too many ${bad}: ${share}; the budget of a month is gone in days.`,
    }),
    ({ lasting }: TimeScale): Alert => ({
      name: `${name}ErrorBudgetBurnSlow`,
      severity: 'ticket',
      expr: slow.map((burn) => burns(objective, burn)).join('\nor '),
      for: lasting('1h'),
      summary: `For a long time too many ${bad}: ${share}; the budget of a month will not last.`,
    }),
  ];
});

function burns({ slo, promised }: Objective, { times, long, short }: Burn): string {
  const over = Number((times * (1 - promised)).toPrecision(6));
  return `(${recorded(slo, long)} > ${over} and ${recorded(slo, short)} > ${over})`;
}
