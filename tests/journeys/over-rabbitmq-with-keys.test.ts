/** The journey over RabbitMQ, with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './over-rabbitmq.test.ts';

sendIdempotencyKeys();
