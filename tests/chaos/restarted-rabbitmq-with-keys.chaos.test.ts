/** Runs restarted-rabbitmq.chaos.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './restarted-rabbitmq.chaos.test.ts';

sendIdempotencyKeys();
