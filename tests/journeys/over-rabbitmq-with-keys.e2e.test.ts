/** Runs over-rabbitmq.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './over-rabbitmq.test.ts';

sendIdempotencyKeys();
