/** Lists all metrics and the values of their labels, for the documentation, the dashboards and the tests. */
import { getProblems } from '#libs/contract';
import { type LabelValues, type Metric, type NameKind, processMetrics, serviceMetrics } from '#libs/service';
import { contracts } from './contracts.ts';
import { services } from './services.ts';

/**
 * All metrics: one set per process, one set that every service has, and the metrics that only one service
 * has.
 */
export function getMetrics(): {
  ofProcess: readonly Metric[];
  ofEachService: readonly Metric[];
  own: readonly { service: string; title: string; metrics: readonly Metric[] }[];
} {
  const own = services.map(({ contract, metrics = [] }) => ({
    service: contract.name,
    title: contract.title,
    metrics,
  }));
  return {
    ofProcess: Object.values(processMetrics),
    ofEachService: Object.values(serviceMetrics),
    own: own.filter(({ metrics }) => metrics.length > 0),
  };
}

/** The possible values of a label. The list is empty if the values depend on the process. */
export function getLabelValues(values: LabelValues): readonly string[] {
  return typeof values === 'string' ? namedValues[values]() : values;
}

const operations = () =>
  contracts.flatMap((contract) => [...contract.operations, ...(contract.adminOperations ?? [])]);

const namedValues: Record<NameKind, () => readonly string[]> = {
  operation: () => operations().map(({ id }) => id),
  problem: () => [
    ...new Set(
      operations()
        .flatMap(getProblems)
        .map(({ code }) => code),
    ),
  ],
  event: () => [...new Set(contracts.flatMap(({ consumes }) => consumes.map(({ name }) => name))), 'unknown'],
  service: () => contracts.map(({ name }) => name),
};
