/** What a request says to its handler costs no more than the request lives. */
import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { retainedBytes } from '#libs/testing';
import { createRequestInfo } from './request-info.ts';

test('requests that were answered do not pile up until the whole heap is collected', async () => {
  // a kilobyte and more each: 20 MB altogether
  const left = await retainedBytes(10_000, () => {
    const request = { headers: {}, get: () => undefined, load: new Array(250).fill(0) } as unknown as Request;
    return createRequestInfo(request, '', { details: {}, replayed: false }).prefersHtml;
  });
  expect(left).toBeLessThan(5_000_000);
});
