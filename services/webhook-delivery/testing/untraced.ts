/** Stands for the tracing of a process, where a test starts a part of the service without one. */
import type { Tracing } from '#libs/service';

/** Runs units of work in no trace. */
export const untraced: Pick<Tracing, 'withSpan' | 'setAttributes' | 'current' | 'workStats'> = {
  withSpan: (_of, work) => work(),
  setAttributes: () => undefined,
  current: () => undefined,
  workStats: () => ({ mongodb_commands: 0, mongodb_ms: 0, events: 0 }),
};
