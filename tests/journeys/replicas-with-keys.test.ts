/** Runs replicas.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './replicas.test.ts';

sendIdempotencyKeys();
