/** The address of this machine at which pods reach a proxy on it, and by that a receiver of webhooks. */
import { networkInterfaces } from 'node:os';

/** The first address that is neither loopback nor one of those that containers are given. */
export function ownAddress(): string {
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, all = []]) =>
    all.map((one) => ({ ...one, name })),
  );
  const own = addresses.find(
    ({ family, internal, name }) => family === 'IPv4' && !internal && !/^(docker|cni|br-|veth)/.test(name),
  );
  return own?.address ?? '127.0.0.1';
}
