/** Stands for the tracing of a process, where a test starts a part of the service without one. */
import type { Tracing } from '#libs/service';

/** Runs units of work in no trace. */
export const untraced: Pick<Tracing, 'unit' | 'note' | 'current' | 'gathered'> = {
  unit: (_of, work) => work(),
  note: () => undefined,
  current: () => undefined,
  gathered: () => ({ mongodb_commands: 0, mongodb_ms: 0, events: 0 }),
};
