/** Runs matrix.test.ts with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './matrix.e2e.test.ts';

sendIdempotencyKeys();
