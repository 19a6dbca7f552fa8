/** Starts the mongod of the all-in-one image. It ends with the container, so it needs no supervisor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { databaseFolder, explainFailure, openLog, prepareDataDir } from './data-dir.ts';
import type { Mongod } from './mongod.ts';
import { becomePrimary, setName } from './replica-set.ts';
import { serverArguments } from './server-arguments.ts';

const port = 27_017;
const cacheGB = 0.5;

/** How long mongod may take to recover its data after a kill, ms. */
const recoveryMs = 120_000;

/**
 * Starts the mongod on the PATH as a one-member replica set on loopback, with its data in `dataDir`. Resolves when it
 * is a writable primary. Throws a `MongodError` with the code `data_dir_version`, `disk_full` or `mongod_failed`.
 */
export async function startContainerMongod(dataDir: string): Promise<Mongod> {
  const path = await prepareDataDir(dataDir);
  const log = await openLog(path);
  const place = ['--dbpath', databaseFolder(path), '--port', String(port), '--bind_ip', '127.0.0.1'];
  const child = spawn('mongod', [...place, '--replSet', setName, ...serverArguments(cacheGB)], {
    // Ctrl-C does not reach it: the services stop first, then the database
    detached: true,
    stdio: ['ignore', log.file.fd, log.file.fd],
  });
  await log.file.close();
  const exited = once(child, 'exit').then(
    () => {},
    () => {},
  );
  const member = `127.0.0.1:${port}`;
  const isPrimary = becomePrimary(`mongodb://${member}/`, member, AbortSignal.timeout(recoveryMs));
  const hasStarted = await Promise.race([isPrimary.then(() => true), exited.then(() => false)]).catch(
    () => false,
  );
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  if (!hasStarted) {
    await stop();
    const error = explainFailure(await log.read(), path);
    await log.keep();
    throw error;
  }
  await log.keep();
  const uri = `mongodb://${member}/?replicaSet=${setName}`;
  return { uri, port, origin: 'mongod of this container', stop, ended: exited };
}
