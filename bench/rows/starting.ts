/** Rows for process start and for the cheapest authenticated request. */
import { getCpuMs } from '../process-usage.ts';
import { start } from '../processes.ts';
import { httpRow, type Row } from '../row.ts';

/** From the start of the process to the first 200, with a migrated database. */
export const startUp: Row = {
  name: 'start-up to ready',
  unit: 'start',
  remark: 'baseline: a bare server that has connected to MongoDB',
  async prepare(fixture) {
    return {
      async batch(side) {
        const program = await start(fixture.commands[side]);
        const sample = { count: 1, wallMs: program.readyMs, cpuMs: getCpuMs(program.pid) };
        await program.stop();
        return sample;
      },
    };
  },
};

const noOpGoal = 1.6;

/** Authentication by API key, and an empty list. */
export const noOp = httpRow({
  name: 'authenticated no-op, API key',
  goal: noOpGoal,
  remark: 'an empty list of templates',
  requests: 3000,
  baselineHandler: 'emptyList',
  compare: 'text',
  async prepare({ organization: { key } }) {
    return async () => () => ({ method: 'GET', path: '/api/v1/templates', key });
  },
});

/** Authentication by access token (its signature and the member's row), and an empty list. */
export const noOpWithToken = httpRow({
  name: 'authenticated no-op, access token',
  goal: noOpGoal,
  remark: 'an empty list of templates; baseline: verifies the signature each time',
  requests: 3000,
  baselineHandler: 'emptyList',
  compare: 'text',
  async prepare({ register }) {
    const { token } = await register();
    return async () => () => ({ method: 'GET', path: '/api/v1/templates', key: token });
  },
});
