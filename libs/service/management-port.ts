/**
 * The management port. It opens before anything else: a process that waits for MongoDB is alive but not
 * ready.
 */
import { listen } from '#libs/http';
import { createManagementApplication, type ProcessContext, type StartedService } from './applications.ts';

/** Phase of a process that is not ready for requests. */
export type Phase = 'starting' | 'draining';

/** The open management port. */
export interface ManagementPort {
  readonly port: number;
  /** Sets the services whose health and admin operations are served. */
  setServices(services: readonly StartedService[]): void;
  /** Sets the phase. `undefined` means ready. */
  setPhase(phase: Phase | undefined): void;
  close(): Promise<void>;
}

/** Opens the management port in phase `starting`. Rejects if the port is in use. */
export async function openManagementPort(context: ProcessContext): Promise<ManagementPort> {
  let phase: Phase | undefined = 'starting';
  let application = createManagementApplication(context, [], () => phase);
  const { settings } = context;
  const { port, close } = await listen(
    (request, response) => application(request, response),
    settings.MANAGEMENT_PORT,
    settings.MANAGEMENT_HOST ?? settings.HOST,
  );
  return {
    port,
    setServices(services) {
      application = createManagementApplication(context, services, () => phase);
    },
    setPhase(newPhase) {
      phase = newPhase;
    },
    close: () => close(0),
  };
}
