/** Tests that request information does not outlive its request. */
import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { retainedBytes } from '#libs/testing';
import { createRequestInfo } from './request-info.ts';

test('answered requests are freed without a full garbage collection', async () => {
  // over 2 KB each, more than 20 MB in total
  const retained = await retainedBytes(10_000, () => {
    const request = { headers: {}, get: () => undefined, load: new Array(250).fill(0) } as unknown as Request;
    return createRequestInfo(request, '', { details: {}, replayed: false }).prefersHtml;
  });
  expect(retained).toBeLessThan(5_000_000);
});
