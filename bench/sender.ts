/** Sends requests in a separate thread and discards the responses, so that they do not disturb a measurement. */
import { once } from 'node:events';
import { request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** Where to send requests, and the API key. */
export interface SenderOptions {
  origin: string;
  key: string;
}

/** A sending thread. */
export interface Sender {
  /** Sends a request and reads its response. Rejects without a 2xx. */
  send(method: string, path: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a sending thread. */
export async function startSender(options: SenderOptions): Promise<Sender> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  await once(worker, 'online');
  return {
    async send(method, path) {
      worker.postMessage({ method, path });
      const [status] = await once(worker, 'message');
      if (status < 200 || status > 299) throw new Error(`${method} ${path} returned ${status}`);
    },
    async close() {
      await worker.terminate();
    },
  };
}

if (parentPort) {
  const port = parentPort;
  // `startSender` passes these options
  const { origin, key } = workerData as SenderOptions;
  port.on('message', ({ method, path }: { method: string; path: string }) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(`${origin}${path}`, { method, headers }, (response) => {
      response.resume().on('end', () => port.postMessage(response.statusCode));
    });
    sent.end();
  });
}
