/** One service: its requests, by the ids of its operations, and the events that it hears. */
import type { Contract } from '#libs/contract';
import type { Row } from '../grafana.ts';
import { most, often, quantileBy, spread } from '../panels.ts';

const requests = 'http_request_duration_seconds';
const commands = 'mongodb_command_duration_seconds';

/** The rows of a service. */
export function ofService(contract: Contract): readonly Row[] {
  const { name: service } = contract;
  const operation = [...contract.operations, ...(contract.adminOperations ?? [])].map(({ id }) => id);
  const [ofIts, ofOwn] = [{ labels: { operation }, unit: 'reqps' as const }, { labels: { service } }];
  const requested: Row = {
    title: 'Requests',
    panels: [
      often('Requests', requests, ['operation'], ofIts),
      quantileBy('Time to answer, p99', [0.99, requests], ['operation'], {
        ...{ labels: { operation }, redFrom: 0.5 },
      }),
      often('By class of status', requests, ['status_class'], ofIts),
      often('Problems', 'http_problems_total', ['operation', 'code'], { ...ofIts, orNone: true }),
    ],
  };
  const heard: Row = {
    title: 'Events that it hears',
    panels: [
      often('Tries', 'events_handled_total', ['type', 'outcome'], ofOwn),
      spread('Time of a try', 'event_handling_duration_seconds', ofOwn),
      spread('Age when it is handled', 'event_age_seconds', ofOwn),
      most('Its queue', 'event_queue_messages', ['state'], ofOwn),
    ],
  };
  const stored: Row = {
    title: 'Its share of MongoDB, and what it says',
    panels: [
      spread('Time of commands', commands, ofOwn),
      often('Commands', commands, ['command'], ofOwn),
      most('Events that were not sent', 'outbox_pending_events', [], ofOwn),
      ...(service === 'sharing'
        ? [often('Public documents', 'embed_responses_total', ['format', 'cache'])]
        : []),
    ],
  };
  return [requested, ...(contract.consumes.length > 0 ? [heard] : []), stored];
}
