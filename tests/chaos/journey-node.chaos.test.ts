/** Runs the chaos journey on five Node processes: each process and RabbitMQ are killed while requests are in flight. */
import { testJourneyWithFaults } from './workload/journey.ts';

testJourneyWithFaults('five under Node');
