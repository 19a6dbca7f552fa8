/** Runs replicas.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './replicas.e2e.test.ts';

sendIdempotencyKeys();
