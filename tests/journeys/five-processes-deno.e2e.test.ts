/** Tests the five services under Deno, one process each, with minimal permissions. */
import { testFiveProcesses } from '../five-processes-suite.ts';

testFiveProcesses('deno');
