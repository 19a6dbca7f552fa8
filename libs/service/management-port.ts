/** The management port, which answers from the first moment: a process that waits for MongoDB is alive, and not ready. */
import { listen } from '#libs/http';
import { managementApplication, type ProcessContext, type StartedService } from './applications.ts';

/** What a process is doing, where it is not to be given requests. */
export type Phase = 'starting' | 'draining';

/** The open port. */
export interface ManagementPort {
  readonly port: number;
  /** From now on it answers for these services. */
  answerFor(ups: readonly StartedService[]): void;
  /** Nothing: it may be given requests. */
  is(phase: Phase | undefined): void;
  close(): Promise<void>;
}

/** Opens the port of a process that starts; rejects when it is taken. */
export async function openManagement(host: ProcessContext): Promise<ManagementPort> {
  let phase: Phase | undefined = 'starting';
  let application = managementApplication(host, [], () => phase);
  const { settings } = host;
  const { port, close } = await listen(
    (request, response) => application(request, response),
    settings.MANAGEMENT_PORT,
    settings.HOST,
  );
  return {
    port,
    answerFor(ups) {
      application = managementApplication(host, ups, () => phase);
    },
    is(now) {
      phase = now;
    },
    close: () => close(0),
  };
}
