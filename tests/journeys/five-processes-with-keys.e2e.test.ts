/** Runs five-processes.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './five-processes.e2e.test.ts';

sendIdempotencyKeys();
