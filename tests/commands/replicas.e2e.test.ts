/** Two replicas of each service cost no more than one: the same table applies. */
import { testCommands } from './suite.ts';

testCommands(2);
