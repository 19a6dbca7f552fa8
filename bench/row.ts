/**
 * Declares what a row of the table is. Most rows send the same requests to the service and to the baseline.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { BaselineHandlerName } from './baseline.ts';
import type { BenchFixture, Side } from './fixture.ts';
import type { RequestSource } from './load.ts';
import { getPreciseCpuMs } from './process-usage.ts';

/** Measurement of one batch on one side: the number of units, their duration and their CPU time. */
export interface Sample {
  count: number;
  wallMs: number;
  cpuMs: number;
  p99Ms?: number;
}

/** A row that is ready to be measured. */
export interface PreparedRow {
  batch(side: Side): Promise<Sample>;
  end?(): Promise<void>;
}

/** A line of the table. */
export interface Row {
  name: string;
  /** Goal for the CPU ratio. */
  goal?: number;
  /** Goal for the p99 ratio. */
  p99Goal?: number;
  /** Note for the readers of the table. */
  remark?: string;
  /** The unit of work. */
  unit: 'request' | 'start' | 'event';
  /**
   * Whether the baseline does less on purpose. The table then shows its numbers for scale, without ratios.
   */
  withoutRatio?: true;
  /**
   * Prepares the row. `share` is the fraction of the default size, for quick runs. Returns the reason as a
   * string if the row cannot run on this machine.
   */
  prepare(fixture: BenchFixture, share: number): Promise<PreparedRow | string>;
}

/** Creates the requests of one batch and the data they need, outside the measured time. */
export type BatchFactory = (side: Side, count: number) => Promise<RequestSource>;

/** Declaration of a row of HTTP requests. */
export interface HttpRow {
  name: string;
  goal?: number;
  remark?: string;
  /** Requests in a batch. */
  requests: number;
  /** Concurrent connections; default: 32. */
  connections?: number;
  /** Requests in a batch of the baseline, if the usual number would be too little work to measure. */
  baselineRequests?: number;
  /** Whether the baseline does less on purpose. The table then shows no ratios. */
  withoutRatio?: true;
  /** The baseline's handler for the same request. */
  baselineHandler: BaselineHandlerName;
  /** How the two responses to the first request must agree before the row is measured. */
  compare: 'text' | 'shape' | 'nothing';
  prepare(fixture: BenchFixture, share: number): Promise<BatchFactory>;
  /** Returns whether the work after the responses is done. Its CPU time counts, its duration does not. */
  isSettled?(fixture: BenchFixture, side: Side): Promise<boolean>;
}

/** Creates a row of HTTP requests. */
export function httpRow(options: HttpRow): Row {
  const { name, goal, remark, withoutRatio, isSettled } = options;
  return {
    name,
    ...(goal !== undefined && { goal }),
    ...(remark !== undefined && { remark }),
    ...(withoutRatio && { withoutRatio }),
    unit: 'request',
    async prepare(fixture, share) {
      const batches = await options.prepare(fixture, share);
      const createRequests = async (side: Side, count: number): Promise<RequestSource> => {
        const requests = await batches(side, count);
        if (side === 'service') return requests;
        return (i) => ({ ...requests(i), path: `/${options.baselineHandler}${requests(i).path}` });
      };
      await compareResponses(fixture, options, createRequests);
      return {
        async batch(side) {
          const usual =
            side === 'baseline' ? (options.baselineRequests ?? options.requests) : options.requests;
          const count = Math.max(1, Math.round(usual * share));
          const requests = await createRequests(side, count);
          const { pid } = fixture.processes[side];
          const cpuBefore = getPreciseCpuMs(pid);
          const startedAt = performance.now();
          const { p99Ms } = await fixture.clients[side].load(count, requests, options.connections);
          const wallMs = performance.now() - startedAt;
          while (isSettled && !(await isSettled(fixture, side))) await pause(5);
          return { count, wallMs, cpuMs: getPreciseCpuMs(pid) - cpuBefore, p99Ms };
        },
      };
    },
  };
}

/**
 * Sends one request to both sides. Throws if the responses differ, because the comparison would be
 * meaningless.
 */
async function compareResponses(
  fixture: BenchFixture,
  { name, compare }: HttpRow,
  requestsOf: BatchFactory,
): Promise<void> {
  const send = async (side: Side) => fixture.clients[side].send((await requestsOf(side, 1))(0));
  const [service, baseline] = [await send('service'), await send('baseline')];
  if (compare === 'nothing' || !fixture.comparesResponses) return;
  const toComparable = (text: string) =>
    compare === 'text' ? text : JSON.stringify(toShape(JSON.parse(text)));
  if (toComparable(service) === toComparable(baseline)) return;
  throw new Error(
    `${name}: the response of the baseline differs.\nservice:  ${service.slice(0, 600)}\nbaseline: ${baseline.slice(0, 600)}`,
  );
}

/** Replaces the values in JSON by their types. */
function toShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toShape);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toShape(field)]));
}
