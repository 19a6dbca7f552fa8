/** The program of the all-in-one image: all services and a MongoDB in one container, for trying. */
import { startContainerMongod } from '../mongod/container-mongod.ts';
import { runLocal } from './run-local.ts';

const { DATA_DIR: dataDir = '.data', HOST: host = '0.0.0.0' } = process.env;

await runLocal({ environment: process.env, dataDir, host, mongod: startContainerMongod(dataDir) });
