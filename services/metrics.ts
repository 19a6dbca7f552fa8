/** Every metric of the system and every value that its labels may have: for the documentation, dashboards and tests. */
import { getProblems } from '#libs/contract';
import { type LabelValues, type Metric, type NameKind, processMetrics, serviceMetrics } from '#libs/service';
import { contracts } from './contracts.ts';
import { services } from './services.ts';

/** All metrics: of the process, of every service in it, and of each service by itself. */
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

/** The values that a label may have; none when it says what this very process is. */
export function getLabelValues(values: LabelValues): readonly string[] {
  return typeof values === 'string' ? named[values]() : values;
}

const operations = () => contracts.flatMap((one) => [...one.operations, ...(one.adminOperations ?? [])]);

const named: Record<NameKind, () => readonly string[]> = {
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
