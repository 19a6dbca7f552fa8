/** How pods reach a receiver of webhooks on this machine: through a proxy here that opens tunnels to this machine's own ports alone. */
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** A running proxy. */
export interface Tunnel {
  /** Its address, as pods see it. */
  url: string;
  host: string;
  port: number;
  close(): void;
}

/** Starts it on a free port; `host` is what pods know this machine by, usually its first address that is not loopback. */
export async function tunnel(host = ownAddress()): Promise<Tunnel> {
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, client: Socket) => {
    const there = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(client).pipe(there);
    });
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on('error', () => client.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  // a TCP server's address is an object once it listens
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    host,
    port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function ownAddress(): string {
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, all = []]) =>
    all.map((one) => ({ ...one, name })),
  );
  // not one of those that containers are given
  const own = addresses.find(
    ({ family, internal, name }) => family === 'IPv4' && !internal && !/^(docker|cni|br-|veth)/.test(name),
  );
  return own?.address ?? '127.0.0.1';
}
