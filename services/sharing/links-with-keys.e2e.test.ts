/** Repeats the tests of links with an `Idempotency-Key` on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './links.test.ts';

sendIdempotencyKeys();
