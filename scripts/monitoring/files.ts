/** What operators' programs read, made from the declarations: dashboards for Grafana, rules for Prometheus. */
import { dashboards } from './dashboards/all.ts';
import { rules } from './rules.ts';

/** The texts of the files by their paths. */
export function operatingFiles(): Record<string, string> {
  const files = Object.entries(dashboards()).map(([name, text]) => [
    `charts/platform/dashboards/${name}.json`,
    text,
  ]);
  const note = '# Generated from scripts/monitoring by `npm run generate`; do not edit.\n';
  return { ...Object.fromEntries(files), 'charts/platform/rules/platform.yaml': note + rules() };
}
