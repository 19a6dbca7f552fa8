/** Waits for the readiness of a process. */
import { isDeepStrictEqual } from 'node:util';
import { httpClient } from './http-client.ts';
import { until } from './until.ts';

/**
 * Waits until a process with this management port is ready, with this body of `/readyz` if there is one. A single
 * request is not enough: on a busy machine, MongoDB may respond to its check too late.
 */
export async function untilReady(management: string, expected?: object): Promise<void> {
  await until(`a ready process ${JSON.stringify(expected ?? {})}`, async () => {
    const { status, body } = await httpClient(management).request('GET', '/readyz');
    return status === 200 && (!expected || isDeepStrictEqual(body, expected));
  });
}
