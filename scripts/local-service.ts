/** Default settings for running single services on this machine. */
import { contracts } from '../services/contracts.ts';

const firstPort = 8101;
const firstManagementPort = 9501;

/** A service with its environment. Its ports on loopback are those that the gateway uses by default. */
export interface LocalService {
  name: string;
  environment: Record<string, string | undefined>;
}

/** Returns all services with their environment. Values in `environment` take precedence over the defaults. */
export function localServices(environment: Record<string, string | undefined>): LocalService[] {
  return contracts.map(({ name }, at) => ({
    name,
    environment: {
      HOST: '127.0.0.1',
      PORT: String(firstPort + at),
      MANAGEMENT_PORT: String(firstManagementPort + at),
      // the gateway runs on loopback and forwards the client's address
      TRUSTED_PROXIES: '127.0.0.1',
      ...environment,
    },
  }));
}

/** Finds a service by name. Returns an error message if the name is missing or unknown. */
export function findLocalService(
  name: string | undefined,
  command: string,
  environment: Record<string, string | undefined>,
): LocalService | string {
  const all = localServices(environment);
  const found = all.find((service) => service.name === name);
  if (found) return found;
  const known = all.map((service) => service.name).join(', ');
  const error = name === undefined ? 'The name of the service is missing' : `Unknown service: ${name}`;
  return `${error}. Run npm run ${command} -- <name> with one of ${known}.`;
}
