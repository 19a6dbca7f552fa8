/** What it costs to be watched: the same requests, asked of a process with metrics or traces and of one without. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchFixture, Side } from '../fixture.ts';
import { alternate } from '../paired.ts';
import { fineCpuMsOf } from '../process-usage.ts';
import { freePort, type Program, start } from '../processes.ts';
import type { Row, Sample } from '../row.ts';

/** Requests in a slice. */
const slice = 100;

/** Settings of the process that is watched, and of the one that is not. */
type Settings = Record<Side, Record<string, string>>;

/** A row of two processes of ours over the same database; the request is the cheapest one, of which watching is the largest part. */
function watchedRow(options: {
  name: string;
  goal: number;
  against: string;
  settings(): Promise<Settings & { end?(): Promise<void> }>;
}): Row {
  return {
    name: options.name,
    goal: options.goal,
    remark: `floor: ours too, ${options.against}; an authenticated no-op`,
    unit: 'request',
    async prepare(stage, share) {
      const { end, ...settings } = await options.settings();
      const programs: Partial<Record<Side, Program>> = {};
      for (const side of ['ours', 'floor'] as const) programs[side] = await beside(stage, settings[side]);
      const asked = { method: 'GET', path: '/api/v1/templates', key: stage.home.key } as const;
      const clients = Object.fromEntries(
        Object.entries(programs).map(([side, { origin }]) => [side, stage.connect(origin)]),
      );
      const measured = async (side: Side): Promise<Sample> => {
        const pid = programs[side]?.pid ?? 0;
        const cpuBefore = fineCpuMsOf(pid);
        const startedAt = performance.now();
        await clients[side]?.load(slice, () => asked);
        const wallMs = performance.now() - startedAt;
        return { count: slice, wallMs, cpuMs: fineCpuMsOf(pid) - cpuBefore };
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

/** Another process of ours, with more settings. */
async function beside({ runs }: BenchFixture, settings: Record<string, string>): Promise<Program> {
  const managementPort = String(await freePort());
  const environment = (port: number) => ({
    ...runs.ours.environment(port),
    MANAGEMENT_PORT: managementPort,
    ...settings,
  });
  return start({ ...runs.ours, environment });
}

/** With everything that `/metrics` tells, against nothing. */
export const metrics = watchedRow({
  name: 'metrics on against off',
  goal: 1.08,
  against: 'with METRICS_ENABLED=false',
  settings: async () => ({ ours: {}, floor: { METRICS_ENABLED: 'false' } }),
});

/** With one trace in twenty sent to a collector, against no traces. */
export const traces = watchedRow({
  name: 'traces of 5 % against none',
  goal: 1.15,
  against: 'with nothing traced',
  async settings() {
    const collector = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200).end());
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    // a TCP server's address is an object once it listens
    const { port } = collector.address() as AddressInfo;
    return {
      ours: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_TRACES_SAMPLER_ARG: '0.05',
      },
      floor: {},
      async end() {
        collector.closeAllConnections();
        await new Promise((resolve) => collector.close(resolve));
      },
    };
  },
});
