/** Five processes under Node, each with its own MongoDB user, joined by the gateway. */
import { testFiveProcesses } from '../five-processes-story.ts';

testFiveProcesses('node');
