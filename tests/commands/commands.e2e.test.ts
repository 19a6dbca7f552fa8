/** What requests cost MongoDB with one replica of each service. */
import { testCommands } from './suite.ts';

testCommands(1);
