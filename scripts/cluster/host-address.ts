/** Finds the address at which pods reach this machine, where the proxy to the webhook receiver runs. */
import { networkInterfaces } from 'node:os';

/** Returns the first IPv4 address that is neither loopback nor of a container network; else 127.0.0.1. */
export function getHostAddress(): string {
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, all = []]) =>
    all.map((address) => ({ ...address, name })),
  );
  const own = addresses.find(
    ({ family, internal, name }) => family === 'IPv4' && !internal && !/^(docker|cni|br-|veth)/.test(name),
  );
  return own?.address ?? '127.0.0.1';
}
