/** A real HTTP proxy for tests; opens every tunnel (CONNECT) to loopback, whatever the requested host. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { closeServer } from './ports.ts';

/** A running proxy. */
export interface ConnectProxy {
  url: string;
  port: number;
  /** The requested tunnels: the target as `name:port` and the `Proxy-Authorization` header. */
  tunnels: { target: string; credentials: string | undefined }[];
  /** The URLs of requests with another method than CONNECT; they get 405. */
  otherRequests: string[];
  close(): Promise<void>;
}

/** Starts a proxy on a free port of `host`; with a `status` other than 200 it rejects all tunnels with it. */
export async function connectProxy({ host = '127.0.0.1', status = 200 } = {}): Promise<ConnectProxy> {
  const tunnels: ConnectProxy['tunnels'] = [];
  const otherRequests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    otherRequests.push(request.url ?? '');
    response.writeHead(405).end();
  });
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    tunnels.push({ target: url, credentials: headers['proxy-authorization'] });
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    const upstream = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => client.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await once(server.listen(0, host), 'listening');
  // a TCP server's address is an object once it listens
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    tunnels,
    otherRequests,
    async close() {
      for (const socket of sockets) socket.destroy();
      await closeServer(server);
    },
  };
}
