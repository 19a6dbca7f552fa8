/** Starting up, and the cheapest request that knows who asks. */

import { cpuMsOf } from '../process-usage.ts';
import { start } from '../processes.ts';
import { httpRow, type Row } from '../row.ts';

/** From the start of the process to the first 200, over a database that has everything already. */
export const startUp: Row = {
  name: 'start-up to ready',
  unit: 'start',
  remark: 'floor: a bare server that has connected to MongoDB',
  async prepare(stage) {
    return {
      async batch(side) {
        const program = await start(stage.runs[side]);
        const sample = { count: 1, wallMs: program.readyMs, cpuMs: cpuMsOf(program.pid) };
        await program.stop();
        return sample;
      },
    };
  },
};

const noOpGoal = 1.6;

/** The key is looked up, and a list that has nothing in it. */
export const noOp = httpRow({
  name: 'authenticated no-op, API key',
  goal: noOpGoal,
  remark: 'an empty list of templates',
  requests: 3000,
  floor: 'emptyList',
  same: 'text',
  async prepare({ home: { key } }) {
    return async () => () => ({ method: 'GET', path: '/api/v1/templates', key });
  },
});

/** The same with an access token: its signature, and its member's row. */
export const noOpByToken = httpRow({
  name: 'authenticated no-op, access token',
  goal: noOpGoal,
  remark: 'an empty list of templates; floor: the signature is verified each time',
  requests: 3000,
  floor: 'emptyList',
  same: 'text',
  async prepare({ register }) {
    const { token } = await register();
    return async () => () => ({ method: 'GET', path: '/api/v1/templates', key: token });
  },
});
