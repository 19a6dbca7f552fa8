/** Delivers one claimed row: sends its request, records the outcome and updates the circuit breaker. */
import type { DeliveryMetrics } from '../metrics.ts';
import type { Scheduler } from '../rules/dynamic-threshold-scheduler.ts';
import type { AttemptResult, ClaimedRow } from '../store/queue.ts';
import type { Receivers } from '../store/receivers.ts';
import type { WaitingDeliveries } from '../store/waiting-deliveries.ts';
import {
  type AttemptDeps,
  createAttempt,
  type Delivery,
  type DeliveryJob,
  failUnsendable,
  type UnsendableDelivery,
} from './attempt.ts';
import type { EndpointBackoff } from './endpoint-backoff.ts';
import type { FailingWebhooks } from './failing-webhooks.ts';
import type { OutcomeWriter } from './outcome-writer.ts';

/** Dependencies of `createDeliver`. */
interface DeliverDeps extends AttemptDeps {
  waiting: Pick<WaitingDeliveries, 'failWaiting'>;
  receivers: Pick<Receivers, 'exists'>;
  failing: Pick<FailingWebhooks, 'disableGone'>;
  metrics: DeliveryMetrics;
  outcomes: Pick<OutcomeWriter, 'record'>;
  backoff: Pick<EndpointBackoff, 'recordResult'>;
  scheduler: Pick<Scheduler, 'drop'>;
}

/** Creates the function that delivers a claimed row and resolves when its outcome is recorded. */
export function createDeliver(deps: DeliverDeps): (delivery: Delivery) => Promise<void> {
  const { waiting, receivers, failing, metrics, outcomes, backoff, scheduler } = deps;
  const attempt = createAttempt(deps);
  return (delivery) => ('error' in delivery ? fail(delivery) : send(delivery));

  async function fail({ row, error }: UnsendableDelivery): Promise<void> {
    await record(row, failUnsendable(error));
  }

  async function send(job: DeliveryJob): Promise<void> {
    const { row } = job;
    const result = await attempt(job);
    metrics.recordAttempt(result, job);
    // disabled before the outcome is recorded: after a crash in between, the webhook is at least disabled
    if (result.http_status === 410) await failing.disableGone(row.organization_id, job.receiver);
    await record(row, result);
    if (await backoff.recordResult(job.receiver, result)) scheduler.drop(row.config_id);
    if (result.decision.status === 'pending') await failIfDeleted(row);
  }

  async function record(row: ClaimedRow, result: AttemptResult): Promise<void> {
    await outcomes.record(row, result);
    if (result.decision.status !== 'pending') metrics.recordFinished(result.decision.status);
  }

  /** If the webhook was deleted during the request, its deletion did not find the row, which waits for a retry. */
  async function failIfDeleted({ config_id }: ClaimedRow): Promise<void> {
    if (await receivers.exists(config_id)) return;
    metrics.recordFinished('failed', await waiting.failWaiting(config_id));
  }
}
