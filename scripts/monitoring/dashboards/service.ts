/**
 * The dashboard of one service: its requests by operation, the events it consumes, and its use of MongoDB.
 */
import type { Contract } from '#libs/contract';
import type { Row } from '../grafana.ts';
import { maxPanel, quantilePanel, quantilesPanel, ratePanel } from '../panels.ts';

const requests = 'http_request_duration_seconds';
const commands = 'mongodb_command_duration_seconds';

/** Creates the rows of a service's dashboard. */
export function serviceRows(contract: Contract): readonly Row[] {
  const { name: service } = contract;
  const operation = [...contract.operations, ...(contract.adminOperations ?? [])].map(({ id }) => id);
  const [requestOptions, serviceOptions] = [
    { labels: { operation }, unit: 'reqps' as const },
    { labels: { service } },
  ];
  const requestRow: Row = {
    title: 'Requests',
    panels: [
      ratePanel('Requests', requests, ['operation'], requestOptions),
      quantilePanel('Request duration, p99', [0.99, requests], ['operation'], {
        ...{ labels: { operation }, redFrom: 0.5 },
      }),
      ratePanel('Requests by status class', requests, ['status_class'], requestOptions),
      ratePanel('Problems', 'http_problems_total', ['operation', 'code'], {
        ...requestOptions,
        orZero: true,
      }),
    ],
  };
  const eventRow: Row = {
    title: 'Consumed events',
    panels: [
      ratePanel('Handled events', 'events_handled_total', ['type', 'outcome'], serviceOptions),
      quantilesPanel('Handling duration', 'event_handling_duration_seconds', serviceOptions),
      quantilesPanel('Age when handled', 'event_age_seconds', serviceOptions),
      maxPanel('Queue', 'event_queue_messages', ['state'], serviceOptions),
    ],
  };
  const storeRow: Row = {
    title: 'MongoDB and published events',
    panels: [
      quantilesPanel('Command duration', commands, serviceOptions),
      ratePanel('Commands', commands, ['command'], serviceOptions),
      maxPanel('Unpublished events', 'outbox_pending_events', [], serviceOptions),
      ...(service === 'sharing'
        ? [
            ratePanel('Responses to links', 'embed_responses_total', ['format', 'cache']),
            ratePanel('Acknowledgements', 'acknowledgements_total', ['kind']),
            maxPanel('Age of the oldest due check', 'acknowledgement_due_oldest_seconds', [], {
              redFrom: 300,
            }),
          ]
        : []),
    ],
  };
  return [requestRow, ...(contract.consumes.length > 0 ? [eventRow] : []), storeRow];
}
