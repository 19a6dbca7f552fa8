/**
 * Runs one service under Deno with minimal permissions (`npm run service:deno -- documents`). With
 * `--print`, only prints the permissions.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { formatError } from '#libs/service';
import { services } from '../services/services.ts';
import { denoBinary } from './deno-binary.ts';
import { denoPermissions } from './deno-permissions.ts';
import { findLocalService, type LocalService } from './local-service.ts';

const root = resolve(import.meta.dirname, '..');

const localService = findLocalService(process.argv[2], 'service:deno', process.env);
try {
  if (typeof localService === 'string') throw new Error(localService);
  const service = services.find(({ contract }) => contract.name === localService.name);
  if (!service) throw new Error(`${localService.name} has a contract but no implementation`);
  const flags = denoPermissions(service, localService.environment);
  if (process.argv.includes('--print')) console.log(flags.join('\n'));
  else await runDeno(localService, flags);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

async function runDeno({ name, environment }: LocalService, flags: string[]): Promise<void> {
  const preload = `--preload=${join(root, 'scripts/deno-ends-with-parent.ts')}`;
  const main = join(root, 'services', name, 'main.ts');
  const child = spawn(await denoBinary(), ['run', ...flags, preload, main], {
    cwd: root,
    stdio: 'inherit',
    env: environment,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal));
  process.exitCode = await new Promise<number>((done, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => done(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
