/** Starts one service with the settings that it has in a container. */
import type { BenchFixture } from './fixture.ts';
import { type BenchProcess, freePort, start } from './processes.ts';

/** The heap limits that V8 chooses in a container of 512 MB. */
const heap = ['--max-old-space-size=256', '--max-semi-space-size=2'];
/** The malloc settings that docs/deployment.md recommends, so that freed memory returns to the system. */
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * Starts a service on the database of the fixture, without RabbitMQ: its events stay in the outbox. It is ready when
 * `readyPath` asks for credentials.
 */
export async function startInContainer(
  { commands }: Pick<BenchFixture, 'commands'>,
  file: string,
  readyPath: string,
): Promise<BenchProcess> {
  const withoutRabbit = { AMQP_URL: 'amqp://127.0.0.1:9/', MANAGEMENT_PORT: String(await freePort()) };
  const { environment } = commands.service;
  return start({
    ...{ file, readyPath, readyStatus: 401, flags: heap },
    environment: (port) => ({ ...environment(port), ...malloc, ...withoutRabbit }),
  });
}
