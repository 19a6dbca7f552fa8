/** Renders the recording rules and the alerts as a Prometheus rules file. */
import { alerts } from './alerts.ts';
import { recordingRules } from './objectives.ts';
import { realTime, type TimeScale } from './time-scale.ts';

/** Renders the rules as YAML, valid as a Prometheus rules file and as the `spec` of a PrometheusRule. */
export function rules(timeScale: TimeScale = realTime): string {
  const alertRules = alerts(timeScale).map(({ name, severity, expr, for: holdTime, summary }) => ({
    alert: name,
    expr,
    for: holdTime,
    labels: { severity },
    annotations: { summary, runbook_url: `docs/runbook.md#${name.toLowerCase()}` },
  }));
  return yaml({
    groups: [
      { name: 'objectives', rules: recordingRules(timeScale) },
      { name: 'alerts', rules: alertRules },
    ],
  });
}

type Value = string | readonly Value[] | { readonly [key: string]: Value };

/** Renders objects and lists of strings as YAML. A string with several lines becomes a block scalar. */
function yaml(value: Value, indent = ''): string {
  if (typeof value === 'string') {
    // a JSON string is a valid YAML string
    if (!value.includes('\n')) return ` ${JSON.stringify(value)}\n`;
    return ` |-\n${value.replaceAll(/^/gm, indent)}\n`;
  }
  if (isList(value))
    return `\n${value.map((item) => `${indent}- ${yaml(item, `${indent}  `).trimStart()}`).join('')}`;
  const fields = Object.entries(value).map(([key, item]) => `${indent}${key}:${yaml(item, `${indent}  `)}`);
  return indent === '' ? fields.join('') : `\n${fields.join('')}`;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
