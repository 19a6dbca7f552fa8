/** Starts the service as in a cluster: five processes with RabbitMQ behind one address. */
import { createServer } from 'node:http';
import { gateway } from '#libs/http';
import { closeServer, freePorts, listenLocally, type RabbitBroker } from '#libs/testing';
import { apiPrefix, contracts } from '../../services/contracts.ts';
import type { MeasuredService } from '../fixture.ts';
import { type BenchProcess, start } from '../processes.ts';

/** Starts the five services. The gateway runs in this process, so its CPU time does not count. */
export async function startFiveProcesses(
  rabbit: RabbitBroker,
  environment: Record<string, string>,
): Promise<MeasuredService> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => void (await Promise.all(started.map((part) => part.stop())));
  // one call, so that no port is given twice
  const ports = await freePorts(2 * contracts.length);
  const startService = async (name: string, at: number): Promise<BenchProcess> => {
    const [port = 0, managementPort = 0] = ports.slice(2 * at);
    const own = { PORT: String(port), MANAGEMENT_PORT: String(managementPort), AMQP_URL: rabbit.url };
    const process = await start({
      file: `services/${name}/main.ts`,
      port,
      readyPath: '/nothing',
      readyStatus: 404,
      environment: () => ({ ...environment, ...own }),
    });
    started.push(process);
    return process;
  };
  try {
    const starts = contracts.map(({ name }, at) => startService(name, at));
    // wait for every start, also for failed ones, before anything is stopped
    await Promise.allSettled(starts);
    const processes = await Promise.all(starts);
    const addresses = Object.fromEntries(
      contracts.map(({ name }, at) => [name, processes[at]?.origin ?? '']),
    );
    const onError = (message: string, error: unknown) => console.error(message, error);
    const server = createServer(gateway({ contracts, apiPrefix, addresses, onError }));
    const port = await listenLocally(server);
    started.push({ stop: async () => closeServer(server) });
    const [{ pid, readyMs }] = processes as [BenchProcess];
    const pids = processes.map((process) => process.pid);
    return { origin: `http://127.0.0.1:${port}`, pid, readyMs, pids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
