/** Generates docs/metrics.md from the declarations of the metrics. */
import { type Metric, runtimeMetrics } from '#libs/service';
import { getLabelValues, getMetrics } from '../services/metrics.ts';
import { renderTable } from './page.ts';

const head = ['metric', 'type', 'unit', 'labels', 'meaning'];

/** Renders the sections of the page. */
export async function metricsPage(): Promise<string[]> {
  const { ofProcess, ofEachService, own } = getMetrics();
  const section = (title: string, text: string, metrics: readonly Metric[]) =>
    `## ${title}\n\n${text}\n\n${renderTable(head, metrics.map(row))}`;
  return [
    `\`GET /metrics\` on the management port returns all metrics in the Prometheus format. \`METRICS_ENABLED=false\` turns
them off. No label contains an id or a value that a caller chooses. Each metric declares the values of its labels, and
a test verifies them on a running system that gets invalid requests.`,
    `A histogram consists of \`_bucket\`, \`_sum\` and \`_count\`. Some gauges are read from MongoDB or RabbitMQ at each
scrape. They are missing while the server is unreachable. Every replica reports the same value, so use \`max\`, not
\`sum\`.`,
    questions,
    section('Process', 'Each process exports these once.', ofProcess),
    section(
      'Every service',
      'These also have the label `service`. A service that consumes no events has no queue metrics.',
      ofEachService,
    ),
    ...own.map(({ title, metrics }) => section(title, 'These also have the label `service`.', metrics)),
    `## Label values\n\n${labelValuesTable()}`,
    `## Runtime\n\n\`prom-client\` exports these metrics of Node. Under Deno the metrics of garbage collection and of the event loop are
missing or 0. Use \`event_loop_lag_seconds\` and \`process_memory_rss_bytes\` there.\n\n${renderTable(
      ['metric', 'type', 'meaning'],
      (await runtimeMetrics()).map(({ name, type, help }) => [`\`${name}\``, type, help]),
    )}`,
  ];
}

const questions = `## Questions

| question | answer |
| --- | --- |
| How many logins are there, and how many fail? | \`http_request_duration_seconds_count{operation="logIn"}\`; for the reasons \`http_problems_total{operation="logIn"}\` |
| How often is the publish quota reached? | \`http_problems_total{code="publish_quota_exhausted"}\` |
| Does anything need manual work? | \`event_queue_messages{state="dead"}\` and \`webhook_deliveries_total{status="failed"}\`; neither is lost |
| How fast do webhooks arrive? | \`webhook_delivery_latency_seconds{attempt="1"}\` |
| Is there a backlog? | \`outbox_oldest_seconds\`, \`event_queue_messages{state="ready"}\`, \`webhook_due_oldest_seconds\`, \`export_queue_length\` |`;

function row({ name, type, unit, labels, help }: Metric): string[] {
  const labelTexts = Object.entries(labels).map(([label, values]) => {
    if (typeof values === 'string') return `\`${label}\` (${values})`;
    return values.length === 0 ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`;
  });
  return [`\`${name}\``, type, unit ?? 'count', labelTexts.join('; ') || '–', help];
}

function labelValuesTable(): string {
  const meanings = {
    operation: 'ids of operations',
    problem: 'codes of problems',
    event: 'types of events, or `unknown`',
    service: 'names of services',
  } as const;
  const rows = Object.entries(meanings).map(([kind, text]) => [
    kind,
    text,
    // the keys of the object above
    String(getLabelValues(kind as keyof typeof meanings).length),
  ]);
  return renderTable(['kind', 'values', 'count'], rows);
}
