/** Runs services as the main job of a process: signals stop it, mistakes end it with a sentence. */
import { SettingsError } from './settings.ts';
import { type RunningServices, type StartOptions, start } from './start.ts';

/** Starts the services and stops them at SIGINT or SIGTERM; a second signal does not wait any longer. */
export async function run(
  options: StartOptions,
  afterStart?: (started: RunningServices) => Promise<void>,
): Promise<void> {
  const started = await start(options).catch((error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`);
    process.exit(1);
  });
  onStopSignal(() => started.stop());
  await afterStart?.(started);
}

/** Calls `stop` once at the first signal, then ends the process; the second signal ends it at once. */
export function onStopSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) process.exit(1);
    stopping = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${formatError(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

/** One readable sentence for an error that ends the process. */
export function formatError(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is taken by another program: stop it, or choose another port with PORT or MANAGEMENT_PORT.`;
  }
  return String(error.message);
}
