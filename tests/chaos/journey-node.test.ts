/** Five Node processes over RabbitMQ and a MongoDB that asks who one is: each is killed in the middle of the journey, and so is RabbitMQ. */
import { journeyUnderFire } from './workload/journey.ts';

journeyUnderFire('five under Node');
