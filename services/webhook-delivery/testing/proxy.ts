/** An HTTP proxy for tests: it opens tunnels (CONNECT) to ports of this machine, whatever name they are asked for by. */
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listening } from './receiver.ts';

/** A running proxy. */
export interface TestProxy {
  url: string;
  /** What it was asked to open, as `name:port`, with the credentials that came along. */
  asked: { target: string; credentials: string | undefined }[];
  /** Requests that were no CONNECT. */
  others: string[];
  close(): Promise<void>;
}

/** Starts a proxy; with a status it opens nothing and answers that. */
export async function proxy(status = 200): Promise<TestProxy> {
  const asked: TestProxy['asked'] = [];
  const others: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    others.push(request.url ?? '');
    response.writeHead(500).end();
  });
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push({ target: url, credentials: headers['proxy-authorization'] });
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    const there = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(client).pipe(there);
    });
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on('error', () => client.destroy());
    }
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    others,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
