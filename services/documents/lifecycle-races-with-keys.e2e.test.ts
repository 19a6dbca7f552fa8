/** Runs the tests of concurrent lifecycle changes with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './lifecycle-races.test.ts';

sendIdempotencyKeys();
