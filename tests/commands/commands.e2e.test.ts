import { testCommands } from './suite.ts';

testCommands(1);
