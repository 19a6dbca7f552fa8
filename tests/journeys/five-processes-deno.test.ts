/** The same five processes under Deno, each with the fewest permissions. */
import { fiveProcessesKeepTheirPromises } from '../five-processes-story.ts';

fiveProcessesKeepTheirPromises('deno');
