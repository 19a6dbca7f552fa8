/** The page of all metrics, made from their own declarations. */
import { type Metric, runtimeMetrics } from '#libs/service';
import { getLabelValues, getMetrics } from '../services/metrics.ts';
import { table } from './page.ts';

const head = ['metric', 'type', 'unit', 'labels', 'tells'];

/** The parts of the page. */
export async function metricsPage(): Promise<string[]> {
  const { ofProcess, ofEachService, own } = getMetrics();
  const section = (title: string, text: string, metrics: readonly Metric[]) =>
    `## ${title}\n\n${text}\n\n${table(head, metrics.map(row))}`;
  return [
    '`GET /metrics` on the management port, in Prometheus’ words; `METRICS_ENABLED=false` switches it off. No label holds an id or anything that a caller chooses: ' +
      'what a label may be is declared with the metric, and a test holds a running system to it while strangers ask for nonsense.',
    `A histogram has \`_bucket\`, \`_sum\` and \`_count\`. What is read from MongoDB or RabbitMQ when the page is asked for is missing while they are away,
and the same in every replica: add nothing up, take the largest.`,
    answers,
    section('The process', 'Once in each process.', ofProcess),
    section(
      'Every service',
      'With the label `service` beside those of the table. The queue of a service is there where it hears anything.',
      ofEachService,
    ),
    ...own.map(({ title, metrics }) => section(title, 'With the label `service`.', metrics)),
    `## What a label may be\n\n${kinds()}`,
    `## The runtime\n\nWhat \`prom-client\` tells of Node; under Deno garbage collection and the runtime’s own view of the event loop are missing or 0, and
\`event_loop_lag_seconds\` and \`process_memory_rss_bytes\` stand for them.\n\n${table(
      ['metric', 'type', 'tells'],
      (await runtimeMetrics()).map(({ name, type, help }) => [`\`${name}\``, type, help]),
    )}`,
  ];
}

const answers = `## Questions

| question | answer |
| --- | --- |
| How many logins, and how many are refused? | \`http_request_duration_seconds_count{operation="logIn"}\`, and why: \`http_problems_total{operation="logIn"}\` |
| Who runs into the limit of published documents? | \`http_problems_total{code="publish_quota_exhausted"}\` |
| Is anything lost? | nothing is: \`event_queue_messages{state="dead"}\` and \`webhook_deliveries_total{status="failed"}\` say what waits for a person |
| How soon do webhooks come? | \`webhook_delivery_latency_seconds{attempt="1"}\` |
| How far behind is everything? | \`outbox_oldest_seconds\`, \`event_queue_messages{state="ready"}\`, \`webhook_due_oldest_seconds\`, \`export_queue_length\` |`;

function row({ name, type, unit, labels, help }: Metric): string[] {
  const shown = Object.entries(labels).map(([label, values]) => {
    if (typeof values === 'string') return `\`${label}\` (${values})`;
    return values.length === 0 ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`;
  });
  return [`\`${name}\``, type, unit ?? 'count', shown.join('; ') || '–', help];
}

function kinds(): string {
  const told = {
    operation: 'ids of operations',
    problem: 'codes of problems',
    event: 'types of events, and `unknown` for what is none',
    service: 'names of services',
  } as const;
  const rows = Object.entries(told).map(([kind, text]) => [
    kind,
    text,
    // the keys of the object above
    String(getLabelValues(kind as keyof typeof told).length),
  ]);
  return table(['kind', 'is one of the', 'so many'], rows);
}
