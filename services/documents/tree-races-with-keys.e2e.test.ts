/** Runs the tests of concurrent node writes with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './tree-races.test.ts';

sendIdempotencyKeys();
