/** One service on this machine: which there are, and what holds for each unless the environment says otherwise. */
import { contracts } from '../services/contracts.ts';

const firstPort = 8101;
const firstManagementPort = 9501;

/** A service that was asked for, with the environment it gets: ports of its own on loopback, where the gateway looks for it. */
export interface LocalService {
  name: string;
  environment: Record<string, string | undefined>;
}

/** All services with their environment; what is given wins. */
export function localServices(given: Record<string, string | undefined>): LocalService[] {
  return contracts.map(({ name }, at) => ({
    name,
    environment: {
      HOST: '127.0.0.1',
      PORT: String(firstPort + at),
      MANAGEMENT_PORT: String(firstManagementPort + at),
      // the gateway is on loopback, and says who asked
      TRUSTED_PROXIES: '127.0.0.1',
      ...given,
    },
  }));
}

/** The service of that name; without one, a sentence for the person at the terminal. */
export function localService(
  name: string | undefined,
  command: string,
  given: Record<string, string | undefined>,
): LocalService | string {
  const all = localServices(given);
  const found = all.find((one) => one.name === name);
  if (found) return found;
  const known = all.map((one) => one.name).join(', ');
  const wrong = name === undefined ? 'Say which service' : `There is no service ${name}`;
  return `${wrong}: npm run ${command} -- <name>, one of ${known}.`;
}
