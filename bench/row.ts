/** Rows: what is measured, declared one by one; most of them are requests that both sides answer. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FloorHandler } from './baseline.ts';
import type { BenchFixture, Side } from './fixture.ts';
import type { Requests } from './load.ts';
import { fineCpuMsOf } from './process-usage.ts';

/** One batch on one side: how many there were, how long they took, what CPU time the side used for them. */
export interface Sample {
  count: number;
  wallMs: number;
  cpuMs: number;
  /** What 99 of 100 requests did not take longer than. */
  p99Ms?: number;
}

/** A row that is ready to be measured. */
export interface Prepared {
  batch(side: Side): Promise<Sample>;
  end?(): Promise<void>;
}

/** One line of the table. */
export interface Row {
  name: string;
  /** The CPU ratio that is aimed for. */
  goal?: number;
  /** The ratio that is aimed for of what 99 of 100 did not take longer than. */
  p99Goal?: number;
  /** What the reader must know of this row. */
  remark?: string;
  /** What is counted. */
  unit: 'request' | 'start' | 'event';
  /** The floor does less than ours on purpose: its numbers stand beside, and no ratio is shown. */
  beside?: true;
  /** `share` of the usual size, for quick runs. Gives a sentence instead where this machine lacks what the row needs. */
  prepare(stage: BenchFixture, share: number): Promise<Prepared | string>;
}

/** Makes the requests of one batch, and what they need, outside of the measured time. */
export type Batches = (side: Side, count: number) => Promise<Requests>;

/** A row of requests. */
export interface HttpRow {
  name: string;
  goal?: number;
  remark?: string;
  /** Requests in a batch. */
  requests: number;
  /** How many connections ask at the same time; 32 unless said. */
  connections?: number;
  /** Requests in a batch of the floor, where its work is so small that as many could not be measured. */
  floorRequests?: number;
  /** The floor does less than ours on purpose: no ratio is shown. */
  beside?: true;
  /** The floor's handler for the same request. */
  floor: FloorHandler;
  /** How both answers to the first request must agree before anything is measured. */
  same: 'text' | 'shape' | 'nothing';
  prepare(stage: BenchFixture, share: number): Promise<Batches>;
  /** Whether the work that goes on behind the answers is done; its CPU time counts, its wall time does not. */
  settled?(stage: BenchFixture, side: Side): Promise<boolean>;
}

/** Declares a row of requests. */
export function httpRow(options: HttpRow): Row {
  const { name, goal, remark, beside, settled } = options;
  return {
    name,
    ...(goal !== undefined && { goal }),
    ...(remark !== undefined && { remark }),
    ...(beside && { beside }),
    unit: 'request',
    async prepare(stage, share) {
      const batches = await options.prepare(stage, share);
      const requestsOf = async (side: Side, count: number): Promise<Requests> => {
        const requests = await batches(side, count);
        if (side === 'ours') return requests;
        return (i) => ({ ...requests(i), path: `/${options.floor}${requests(i).path}` });
      };
      await agree(stage, options, requestsOf);
      return {
        async batch(side) {
          const usual = side === 'floor' ? (options.floorRequests ?? options.requests) : options.requests;
          const count = Math.max(1, Math.round(usual * share));
          const requests = await requestsOf(side, count);
          const { pid } = stage.programs[side];
          const cpuBefore = fineCpuMsOf(pid);
          const startedAt = performance.now();
          const { p99Ms } = await stage.clients[side].load(count, requests, options.connections);
          const wallMs = performance.now() - startedAt;
          while (settled && !(await settled(stage, side))) await pause(5);
          return { count, wallMs, cpuMs: fineCpuMsOf(pid) - cpuBefore, p99Ms };
        },
      };
    },
  };
}

/** Both sides are asked once: a floor that answers something else measures nothing. */
async function agree(stage: BenchFixture, { name, same }: HttpRow, requestsOf: Batches): Promise<void> {
  const asked = async (side: Side) => stage.clients[side].ask((await requestsOf(side, 1))(0));
  const [ours, floor] = [await asked('ours'), await asked('floor')];
  if (same === 'nothing') return;
  const seen = (text: string) => (same === 'text' ? text : JSON.stringify(shapeOf(JSON.parse(text))));
  if (seen(ours) === seen(floor)) return;
  throw new Error(
    `${name}: the floor answers something else.\nours:  ${ours.slice(0, 600)}\nfloor: ${floor.slice(0, 600)}`,
  );
}

/** Names and types without the values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
}
