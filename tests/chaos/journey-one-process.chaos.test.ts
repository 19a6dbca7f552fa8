/** Runs the chaos journey on one process with all services: it and RabbitMQ are killed while requests are in flight. */
import { testJourneyWithFaults } from './workload/journey.ts';

testJourneyWithFaults('all in one');
