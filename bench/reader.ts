/**
 * Reads one URL in a separate thread and discards the bytes, so that the reads do not disturb a measurement.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** The URL and the API key to read it with. */
export interface ReaderOptions {
  url: string;
  key: string;
}

/** A reading thread. */
export interface Reader {
  /** Reads the URL once. Rejects on any status but 200. */
  read(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a reading thread. */
export async function startReader(options: ReaderOptions): Promise<Reader> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  await once(worker, 'online');
  return {
    async read() {
      worker.postMessage('read');
      const [status] = await once(worker, 'message');
      if (status !== 200) throw new Error(`${options.url} returned ${status}`);
    },
    async close() {
      await worker.terminate();
    },
  };
}

if (parentPort) {
  const port = parentPort;
  // `startReader` passes these options
  const { url, key } = workerData as ReaderOptions;
  port.on('message', () => {
    get(url, { headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on('end', () => port.postMessage(response.statusCode));
    });
  });
}
