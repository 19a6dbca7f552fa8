/** One process with all five services over RabbitMQ and a MongoDB that asks who one is: each is killed in the middle of the journey, and so is RabbitMQ. */
import { journeyWithFaults } from './workload/journey.ts';

journeyWithFaults('all in one');
