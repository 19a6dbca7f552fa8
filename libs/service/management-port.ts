/**
 * The management port, which answers from the first moment: a process that waits for MongoDB is alive, and
 * not ready.
 */
import { listen } from '#libs/http';
import { createManagementApplication, type ProcessContext, type StartedService } from './applications.ts';

/** What a process is doing, where it is not to be given requests. */
export type Phase = 'starting' | 'draining';

/** The open port. */
export interface ManagementPort {
  readonly port: number;
  /** From now on it answers for these services. */
  setServices(services: readonly StartedService[]): void;
  /** Nothing: it may be given requests. */
  setPhase(phase: Phase | undefined): void;
  close(): Promise<void>;
}

/** Opens the port of a process that starts; rejects when it is taken. */
export async function openManagementPort(context: ProcessContext): Promise<ManagementPort> {
  let phase: Phase | undefined = 'starting';
  let application = createManagementApplication(context, [], () => phase);
  const { settings } = context;
  const { port, close } = await listen(
    (request, response) => application(request, response),
    settings.MANAGEMENT_PORT,
    settings.HOST,
  );
  return {
    port,
    setServices(ups) {
      application = createManagementApplication(context, ups, () => phase);
    },
    setPhase(now) {
      phase = now;
    },
    close: () => close(0),
  };
}
