/** Tests the five services under Node, one process each with its own MongoDB user, behind the gateway. */
import { testFiveProcesses } from '../five-processes-suite.ts';

testFiveProcesses('node');
