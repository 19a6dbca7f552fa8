/**
 * The program of `npm start`: all services in one process, with the MongoDB at MONGODB_URI or else a local one.
 */
import { resolve } from 'node:path';
import { startMongod } from '../mongod/mongod.ts';
import { readInstanceFile } from './instance-file.ts';

const { MONGODB_URI, DATA_DIR } = process.env;
const dataDir = resolve(DATA_DIR ?? '.data');

if (MONGODB_URI) await import('../../services/all.ts');
else if ((await readInstanceFile(dataDir)).state === 'running') {
  console.error(
    `The service is already running with the data in ${dataDir}: use the running instance, stop it, or set DATA_DIR to another folder.`,
  );
  process.exitCode = 1;
} else {
  const mongod = startMongod({ dataDir, say: console.error });
  // mongod starts while the services load; `runLocal` reports its errors
  mongod.catch(() => {});
  const { runLocal } = await import('./run-local.ts');
  await runLocal({ environment: process.env, dataDir, mongod });
}
