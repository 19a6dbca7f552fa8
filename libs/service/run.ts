/**
 * Runs services as the main job of a process. Signals stop it; a failed start exits with a readable error.
 */
import { SettingsError } from './settings.ts';
import { type RunningServices, type StartOptions, start } from './start.ts';

/**
 * Starts the services and stops them on SIGINT or SIGTERM. A second signal exits at once, and so does one while they
 * start. `afterStart` runs when they are ready.
 */
export async function run(
  options: StartOptions,
  afterStart?: (started: RunningServices) => Promise<void>,
): Promise<void> {
  let started: RunningServices | undefined;
  // also while it starts: without a handler, the first process of a container ignores SIGTERM
  onStopSignal(async () => started?.stop());
  started = await start(options).catch((error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`);
    process.exit(1);
  });
  await afterStart?.(started);
}

/** Calls `stop` on the first signal and then exits the process. A second signal exits at once. */
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

/** Formats an error that ends the process as a readable message without a stack. */
export function formatError(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is taken by another program. Stop it, or set PORT or MANAGEMENT_PORT to another port.`;
  }
  return String(error.message);
}
