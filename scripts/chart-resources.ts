/** Reads the CPU and memory of the services from the values of the charts. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The resources of one pod. */
export interface PodResources {
  /** Requested cores. */
  cpu: number;
  /** Requested memory, GiB. */
  memory: number;
  /** Limit of the memory, GiB. */
  memoryLimit: number;
}

interface Values {
  resources?: { requests: { cpu: string; memory: string }; limits: { memory: string } };
}

const readValues = (chart: string) =>
  parse(readFileSync(new URL(`../charts/${chart}/values.yaml`, import.meta.url), 'utf8'));

/** Returns the resources of a service: those of the platform chart, or else the defaults of all services. */
export function readChartResources(service: string): PodResources {
  const own: Values = readValues('platform')[service];
  const common: Required<Values> = readValues('service');
  const { requests, limits } = own.resources ?? common.resources;
  return {
    cpu: readNumber(requests.cpu, /^(\d+)m$/) / 1_000,
    memory: readNumber(requests.memory, /^(\d+)Mi$/) / 1_024,
    memoryLimit: readNumber(limits.memory, /^(\d+)Mi$/) / 1_024,
  };
}

function readNumber(text: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(text) ?? [];
  if (digits === undefined) throw new Error(`${text} is not in the unit of ${pattern}`);
  return Number(digits);
}
