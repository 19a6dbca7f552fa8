/** Pace: how long the windows of rules are. Tests let the same rules run faster than a night. */

/** Makes durations and ages of rules. */
export interface TimeScale {
  /** A duration of PromQL as it is in production, e.g. `5m`, at this pace. */
  lasting(duration: string): string;
  /** An age in seconds at this pace. */
  seconds(age: number): number;
}

const inSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The pace of production. */
export const realTime: TimeScale = { lasting: (duration) => duration, seconds: (age) => age };

/** Everything so many times faster, but no window below `leastSeconds`: a rate needs two scrapes. */
export function spedUp(times: number, leastSeconds: number): TimeScale {
  return {
    lasting(duration) {
      const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
      const seconds = (Number(number) * (inSeconds[unit] ?? Number.NaN)) / times;
      return `${Math.max(leastSeconds, Math.round(seconds))}s`;
    },
    seconds: (age) => age / times,
  };
}
