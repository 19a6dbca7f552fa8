/** Starts the service as in a cluster: five processes with RabbitMQ behind one address. */
import { createServer } from 'node:http';
import { gateway } from '#libs/http';
import { closeServer, listenLocally, ownRabbit } from '#libs/testing';
import { apiPrefix, contracts } from '../../services/contracts.ts';
import type { MeasuredService } from '../fixture.ts';
import { type BenchProcess, freePort, start } from '../processes.ts';

/** Starts RabbitMQ and the five services. The gateway runs in this process, so its CPU time does not count. */
export async function startFiveProcesses(environment: Record<string, string>): Promise<MeasuredService> {
  const rabbit = await ownRabbit();
  const started: { stop(): Promise<void> }[] = [rabbit];
  const stop = async () => {
    for (const part of started.toReversed()) await part.stop();
  };
  const startService = async (name: string): Promise<BenchProcess> => {
    const managementPort = await freePort();
    const process = await start({
      file: `services/${name}/main.ts`,
      readyPath: '/nothing',
      readyStatus: 404,
      environment: (port) => ({
        ...environment,
        PORT: String(port),
        MANAGEMENT_PORT: String(managementPort),
        AMQP_URL: rabbit.url,
      }),
    });
    started.push(process);
    return process;
  };
  try {
    const starts = contracts.map(({ name }) => startService(name));
    // wait for every start, also for failed ones, before anything is stopped
    await Promise.allSettled(starts);
    const processes = await Promise.all(starts);
    const addresses = contracts.map(({ name }, at) => [name, processes[at]?.origin ?? '']);
    const server = createServer(
      gateway({
        contracts,
        apiPrefix,
        addresses: Object.fromEntries(addresses),
        onError: (message, error) => console.error(message, error),
      }),
    );
    const port = await listenLocally(server);
    started.push({ stop: async () => closeServer(server) });
    const [{ pid, readyMs }] = processes as [BenchProcess];
    const pids = processes.map((process) => process.pid);
    return { origin: `http://127.0.0.1:${port}`, pid, readyMs, pids, brokerPid: rabbit.pid(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
