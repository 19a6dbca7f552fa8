/** Reads one path so many times in a thread of its own and throws the bytes away: whoever measures beside it is kept busy by nothing. */
import { once } from 'node:events';
import { get } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** What to read. */
export interface Reading {
  url: string;
  key: string;
}

/** A thread that reads. */
export interface Reader {
  /** Reads once; rejects on anything but 200. */
  read(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a thread that reads. */
export async function reader(reading: Reading): Promise<Reader> {
  const worker = new Worker(new URL(import.meta.url), { workerData: reading });
  await once(worker, 'online');
  return {
    async read() {
      worker.postMessage('read');
      const [status] = await once(worker, 'message');
      if (status !== 200) throw new Error(`${reading.url} answered ${status}`);
    },
    async close() {
      await worker.terminate();
    },
  };
}

if (parentPort) {
  const port = parentPort;
  // the thread that started this one says what to read
  const { url, key } = workerData as Reading;
  port.on('message', () => {
    get(url, { headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on('end', () => port.postMessage(response.statusCode));
    });
  });
}
