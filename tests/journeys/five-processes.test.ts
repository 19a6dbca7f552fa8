/** Five processes under Node, each with its own MongoDB user, joined by the gateway. */
import { testFiveProcesses } from '../five-processes-suite.ts';

testFiveProcesses('node');
