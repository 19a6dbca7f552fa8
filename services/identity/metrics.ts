/** Metrics of the audit log. */
import { counter, histogram, type Meters } from '#libs/service';

const metrics = {
  entries: counter({
    name: 'audit_log_entries_total',
    help: 'Entries appended to the audit logs of all organizations',
    labels: {},
  }),
  lag: histogram({
    name: 'audit_log_lag_seconds',
    help: 'Time from a change to its entry in the audit log',
    unit: 'seconds',
    labels: {},
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600],
  }),
};

/** Definitions of the metrics of the audit log. */
export const auditLogMetrics = Object.values(metrics);

/** Records what the audit log does. */
export interface AuditLogMetrics {
  recordEntry(event: { occurred_at: string }): void;
}

/** Creates the recorder of the audit log. */
export function createAuditLogMetrics(meters: Meters, now: () => Date): AuditLogMetrics {
  const [count, observe] = [meters.counter(metrics.entries), meters.histogram(metrics.lag)];
  return {
    recordEntry({ occurred_at }) {
      count({});
      observe({}, Math.max(0, now().getTime() - Date.parse(occurred_at)) / 1000);
    },
  };
}
