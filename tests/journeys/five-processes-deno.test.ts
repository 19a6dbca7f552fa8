/** The same five processes under Deno, each with the fewest permissions. */
import { testFiveProcesses } from '../five-processes-story.ts';

testFiveProcesses('deno');
