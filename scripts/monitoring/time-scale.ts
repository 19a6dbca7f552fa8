/** Scales the durations in rules, so that tests can run the same rules faster. */

/** Converts the durations and ages of production rules. */
export interface TimeScale {
  /** Converts a PromQL duration, e.g. `5m`. */
  duration(duration: string): string;
  /** Converts an age in seconds. */
  seconds(age: number): number;
}

const secondsPerUnit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The time scale of production: nothing is converted. */
export const realTime: TimeScale = { duration: (duration) => duration, seconds: (age) => age };

/** Divides all durations by `times`, but not below `minSeconds`, because a rate needs two scrapes. */
export function accelerate(times: number, minSeconds: number): TimeScale {
  return {
    duration(duration) {
      const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
      const seconds = (Number(number) * (secondsPerUnit[unit] ?? Number.NaN)) / times;
      return `${Math.max(minSeconds, Math.round(seconds))}s`;
    },
    seconds: (age) => age / times,
  };
}
