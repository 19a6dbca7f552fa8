/** The rules for Prometheus: what is recorded for the objectives, and all alerts. */
import { alerts } from './alerts.ts';
import { recordings } from './objectives.ts';
import { realTime, type TimeScale } from './time-scale.ts';

/** The rules as Prometheus and a PrometheusRule's `spec` have them. */
export function rules(pace: TimeScale = realTime): string {
  const told = alerts(pace).map(({ name, severity, expr, for: held, summary }) => ({
    alert: name,
    expr,
    for: held,
    labels: { severity },
    annotations: { summary, runbook_url: `docs/runbook.md#${name.toLowerCase()}` },
  }));
  return yaml({
    groups: [
      { name: 'objectives', rules: recordings(pace) },
      { name: 'alerts', rules: told },
    ],
  });
}

type Value = string | readonly Value[] | { readonly [key: string]: Value };

/** YAML of objects and lists of texts; a text of several lines is a block. */
function yaml(value: Value, indent = ''): string {
  if (typeof value === 'string') {
    // JSON's texts are YAML's
    if (!value.includes('\n')) return ` ${JSON.stringify(value)}\n`;
    return ` |-\n${value.replaceAll(/^/gm, indent)}\n`;
  }
  if (isList(value))
    return `\n${value.map((one) => `${indent}- ${yaml(one, `${indent}  `).trimStart()}`).join('')}`;
  const fields = Object.entries(value).map(([key, one]) => `${indent}${key}:${yaml(one, `${indent}  `)}`);
  return indent === '' ? fields.join('') : `\n${fields.join('')}`;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
