/** The shape of a Prometheus alert. */
import type { TimeScale } from './time-scale.ts';

/** An alerting rule. */
export interface Alert {
  /** Name of the alert and heading of its section in the runbook. */
  readonly name: string;
  /** A page needs action now. A ticket can wait until working hours. */
  readonly severity: 'page' | 'ticket';
  readonly expr: string;
  /** PromQL duration for which `expr` must be true before the alert fires. */
  readonly for: string;
  /** One sentence. It may contain Prometheus template variables such as `{{ $value }}`. */
  readonly summary: string;
}

/** Creates an alert for a time scale: tests use shorter windows than production. */
export type AlertFactory = (timeScale: TimeScale) => Alert;
