/** Requests cost MongoDB no more with two replicas of each service than with one: the same table applies. */
import { testCommands } from './suite.ts';

testCommands(2);
