/** The same five processes under Deno, each with the fewest permissions. */
import { testFiveProcesses } from '../five-processes-suite.ts';

testFiveProcesses('deno');
