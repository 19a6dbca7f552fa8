/** Rows for the cost of metrics and traces: the same requests to a process with them and to one without. */
import { createServer } from 'node:http';
import { closeServer, listenLocally } from '#libs/testing';
import type { BenchFixture, Side } from '../fixture.ts';
import { alternate } from '../paired.ts';
import { getPreciseCpuMs } from '../process-usage.ts';
import { type BenchProcess, freePort, start } from '../processes.ts';
import type { Row, Sample } from '../row.ts';

/** Requests in a slice. */
const slice = 100;

/** Settings of the process with the instrumentation (`service`) and of the one without it (`baseline`). */
type Settings = Record<Side, Record<string, string>>;

/**
 * Declares a row of two service processes with the same database. The request is the cheapest one, because
 * there the instrumentation has the largest share.
 */
function instrumentationRow(options: {
  name: string;
  goal: number;
  pairedWith: string;
  settings(): Promise<Settings & { end?(): Promise<void> }>;
}): Row {
  return {
    name: options.name,
    goal: options.goal,
    remark: `paired with the service ${options.pairedWith}; an authenticated no-op`,
    unit: 'request',
    async prepare(fixture, share) {
      const { end, ...settings } = await options.settings();
      const programs: Partial<Record<Side, BenchProcess>> = {};
      for (const side of ['service', 'baseline'] as const)
        programs[side] = await startService(fixture, settings[side]);
      const request = { method: 'GET', path: '/api/v1/templates', key: fixture.organization.key } as const;
      const clients = Object.fromEntries(
        Object.entries(programs).map(([side, { origin }]) => [side, fixture.connect(origin)]),
      );
      const measured = async (side: Side): Promise<Sample> => {
        const pid = programs[side]?.pid ?? 0;
        const cpuBefore = getPreciseCpuMs(pid);
        const startedAt = performance.now();
        await clients[side]?.load(slice, () => request);
        const wallMs = performance.now() - startedAt;
        return { count: slice, wallMs, cpuMs: getPreciseCpuMs(pid) - cpuBefore };
      };
      return {
        batch: alternate(measured, share),
        async end() {
          for (const client of Object.values(clients)) await client.close();
          for (const program of Object.values(programs)) await program.stop();
          await end?.();
        },
      };
    },
  };
}

/** Starts another process of the service with additional settings. */
async function startService(
  { commands }: BenchFixture,
  settings: Record<string, string>,
): Promise<BenchProcess> {
  const managementPort = String(await freePort());
  const environment = (port: number) => ({
    ...commands.service.environment(port),
    MANAGEMENT_PORT: managementPort,
    ...settings,
  });
  return start({ ...commands.service, environment });
}

/** All metrics, paired with none. */
export const metrics = instrumentationRow({
  name: 'metrics on vs. off',
  goal: 1.08,
  pairedWith: 'with METRICS_ENABLED=false',
  settings: async () => ({ service: {}, baseline: { METRICS_ENABLED: 'false' } }),
});

/** 5 % of the traces sent to a collector, paired with no traces. */
export const traces = instrumentationRow({
  name: 'traces of 5 % vs. none',
  goal: 1.15,
  pairedWith: 'without traces',
  async settings() {
    const collector = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200).end());
    });
    const port = await listenLocally(collector);
    return {
      service: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_TRACES_SAMPLER_ARG: '0.05',
      },
      baseline: {},
      end: () => closeServer(collector),
    };
  },
});
