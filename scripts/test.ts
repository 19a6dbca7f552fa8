/** Runs a lane of tests: `node scripts/test.ts test|e2e|chaos [Jest's arguments]`. */
import { run } from 'jest';

const [lane, ...args] = process.argv.slice(2);
process.env.TEST_LANE = lane ?? 'test';
await run(args);
