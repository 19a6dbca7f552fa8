/** One process with all five services over RabbitMQ and a MongoDB that asks who one is: each is killed in the middle of the journey, and so is RabbitMQ. */
import { testJourneyWithFaults } from './workload/journey.ts';

testJourneyWithFaults('all in one');
