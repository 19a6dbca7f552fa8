/** Generates the Grafana dashboards and the Prometheus rules from their declarations. */
import { dashboards } from './dashboards/all.ts';
import { rules } from './rules.ts';

/** Returns the contents of the generated files by path. */
export function monitoringFiles(): Record<string, string> {
  const files = Object.entries(dashboards()).map(([name, text]) => [
    `charts/platform/dashboards/${name}.json`,
    text,
  ]);
  const note = '# Generated from scripts/monitoring by `npm run generate`; do not edit.\n';
  return { ...Object.fromEntries(files), 'charts/platform/rules/platform.yaml': note + rules() };
}
