/** Sends requests in a separate thread and discards the responses, so that they do not disturb a measurement. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** Where to send requests, and the API key. */
export interface SenderOptions {
  origin: string;
  key: string;
}

/** A request. `type` is the content type of its body. */
export interface SenderRequest {
  method: string;
  path: string;
  type?: string;
  body?: Uint8Array;
}

/** A sending thread. */
export interface Sender {
  /**
   * Sends a request and reads its response, one at a time. Rejects if the connection fails, or the status is not 200 to
   * 299.
   */
  send(request: SenderRequest): Promise<void>;
  close(): Promise<void>;
}

/** Starts a sending thread. */
export async function startSender(options: SenderOptions): Promise<Sender> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  await once(worker, 'online');
  return {
    async send(request) {
      worker.postMessage(request);
      const [outcome] = await once(worker, 'message');
      if (!(outcome >= 200 && outcome <= 299))
        throw new Error(`${request.method} ${request.path} returned ${outcome}`);
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
  const agent = new Agent({ keepAlive: true });
  port.on('message', ({ method, path, type, body }: SenderRequest) => {
    const headers = { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }) };
    const sent = request(`${origin}${path}`, { method, headers, agent });
    sent.on('error', (error) => port.postMessage(error.message));
    sent.on('response', (response) => {
      response.resume();
      response.on('error', (error) => port.postMessage(error.message));
      response.on('end', () => port.postMessage(response.statusCode));
    });
    sent.end(body);
  });
}
