/** The dispatcher: a loop that finds due deliveries and starts to claim and send them when slots are free. */
import type { Worker } from '#libs/service';
import type { DeliveryMetrics } from '../metrics.ts';
import { createScheduler } from '../rules/dynamic-threshold-scheduler.ts';
import { type LoopState, nextAction } from '../rules/next-action.ts';
import type { NewDeliveries } from '../store/new-deliveries.ts';
import type { Queue } from '../store/queue.ts';
import type { Receivers } from '../store/receivers.ts';
import type { WaitingDeliveries } from '../store/waiting-deliveries.ts';
import type { Sender } from '../transport/sender.ts';
import type { AttemptDeps } from './attempt.ts';
import { createClaiming, type NewEventDeliveries } from './claiming.ts';
import { createDeliver } from './delivering.ts';
import { createDueRows } from './due-rows.ts';
import { createEndpointBackoff, type EndpointBackoffDeps } from './endpoint-backoff.ts';
import type { FailingWebhooks } from './failing-webhooks.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { createSignal } from './signal.ts';

/** Dependencies of the dispatcher. */
export interface DispatcherDeps extends AttemptDeps, EndpointBackoffDeps {
  queue: Pick<Queue, 'findDue' | 'claim' | 'getEvents' | 'finish' | 'release'>;
  waiting: WaitingDeliveries;
  metrics: DeliveryMetrics;
  receivers: Pick<Receivers, 'getByIds' | 'getBreakerGeneration' | 'exists'>;
  failing: Pick<FailingWebhooks, 'disableGone'>;
  sender: Sender;
  newDeliveries: Pick<NewDeliveries, 'insertMissing'>;
  /** How long a claimed row stays locked, ms. */
  lockMs: number;
  /** How long writing an outcome is retried while MongoDB is unavailable, ms. */
  retryForMs: number;
  onError(message: string, error: unknown): void;
}

/** The worker that delivers. It polls every second; new deliveries of this process wake it at once. */
export interface Dispatcher extends Worker {
  /**
   * Inserts the deliveries of an event that do not exist yet. Those that get a slot at once are sent without
   * another query; the others are queued. Before the start and during a stop, none gets a slot.
   */
  insertAndDeliver(deliveries: NewEventDeliveries): Promise<void>;
}

/** Creates the dispatcher of this process. Its loop executes what `nextAction` decides. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { sender, onError } = deps;
  let phase: LoopState['phase'] = 'created';
  let loop = Promise.resolve();
  const isRunning = () => phase === 'running';
  const signal = createSignal();
  const onSlotFreed = signal.notify;
  const outcomes = createOutcomeWriter(deps);
  const backoff = createEndpointBackoff(deps);
  const scheduler = createScheduler(backoff.permits);
  const dueRows = createDueRows({ ...deps, scheduler, backoff });
  const deliver = createDeliver({ ...deps, outcomes, backoff, scheduler });
  const claiming = createClaiming({ ...deps, scheduler, deliver, isRunning, onSlotFreed });

  return {
    async insertAndDeliver(deliveries) {
      const queued = await claiming.insert(deliveries);
      if (!isRunning() || queued.length === 0) return;
      scheduler.add(backoff.admit(queued));
      signal.notify();
    },
    start() {
      phase = 'running';
      loop = runLoop();
    },
    async stop() {
      phase = 'stopping';
      signal.notify();
      outcomes.flush();
      await loop;
      await claiming.idle();
      await outcomes.idle();
      await backoff.idle();
      await sender.close();
    },
  };

  async function runLoop(): Promise<void> {
    for (let state = getState(); ; state = getState()) {
      const action = nextAction(state);
      if (action === 'stop') return;
      if (action === 'wait') await signal.wait(state.freeSlots > 0 ? state.untilPollMs : undefined);
      else if (action === 'claim') claiming.start(scheduler.take());
      else await dueRows[action]().catch((error) => onError('Could not find due deliveries', error));
    }
  }

  function getState(): LoopState {
    return {
      phase,
      freeSlots: scheduler.freeSlots(),
      runningClaims: claiming.countRunning(),
      hasRunnable: scheduler.hasRunnable(),
      untilPollMs: dueRows.untilPollMs(),
      mayHaveMore: dueRows.mayHaveMore(),
    };
  }
}
