/** Races in identity, with an Idempotency-Key on every authenticated POST. */
import { sendIdempotencyKeys } from '#libs/testing';
import './races.test.ts';

sendIdempotencyKeys();
