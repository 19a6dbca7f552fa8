/** A tracing stub for tests that start a part of the service without a process. */
import type { Tracing } from '#libs/service';

/** Runs work without a trace. */
export const untraced: Pick<Tracing, 'withSpan' | 'setAttributes' | 'currentTraceparent' | 'workStats'> = {
  withSpan: (_options, work) => work(),
  setAttributes: () => undefined,
  currentTraceparent: () => undefined,
  workStats: () => ({ mongodb_commands: 0, mongodb_ms: 0, events: 0 }),
};
