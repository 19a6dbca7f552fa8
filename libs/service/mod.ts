/**
 * Public interface of the service library: declares services as values and runs one or several in a process.
 */
export { type SecurityLog, securityLog, systemAuditEvent } from './audit.ts';
export type { PublicHealth } from './health.ts';
export { createBufferedLog, createLog, type Log } from './log.ts';
export {
  type CounterDef,
  counter,
  defaultBuckets,
  type GaugeDef,
  gauge,
  type HistogramDef,
  histogram,
  type LabelValues,
  type Metric,
  type NameKind,
  statusClasses,
  toStatusClass,
} from './metric-definition.ts';
export { type Meters, runtimeMetrics } from './metric-registry.ts';
export { processMetrics, serviceMetrics } from './process-metrics.ts';
export { formatError, onStopSignal, run } from './run.ts';
export {
  type AnyService,
  type ServiceContext,
  type ServiceHandlers,
  service,
  type Worker,
} from './service.ts';
export {
  appUrl,
  commonSettings,
  count,
  flag,
  integer,
  list,
  passwordHashConcurrency,
  readSettings,
  SettingsError,
  seconds,
  secret,
  timeLimit,
} from './settings.ts';
export { type RunningServices, type StartOptions, start } from './start.ts';
export type { Tracing } from './tracing.ts';
export { every } from './worker.ts';
