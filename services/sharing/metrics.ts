/** The metrics of public links. */
import { counter, gauge, type Meters } from '#libs/service';

const responses = counter({
  name: 'embed_responses_total',
  help: 'Responses with the document of a link, by format and cache result: rendered (`miss`), cached (`hit`) or 304 (`not_modified`). Personal links have the formats `reading_html` and `reading_json`',
  labels: {
    format: ['html', 'json', 'reading_html', 'reading_json'],
    cache: ['miss', 'hit', 'not_modified'],
  },
});

const assets = counter({
  name: 'embed_asset_responses_total',
  help: 'Responses with a picture of a public document: with the bytes (`sent`) or 304 (`not_modified`)',
  labels: { result: ['sent', 'not_modified'] },
});

const passwordChecks = counter({
  name: 'link_password_checks_total',
  help: 'Passwords sent for public links: right, wrong, or not compared because of a limit (`limited`). A password that was right within the last minute is not counted',
  labels: { result: ['right', 'wrong', 'limited'] },
});

const acknowledgements = counter({
  name: 'acknowledgements_total',
  help: 'Acknowledgements of documents by members and by readers with a personal link',
  labels: { kind: ['member', 'reader'] },
});

const dueChecks = gauge({
  name: 'acknowledgement_due_checks',
  help: 'Requests for acknowledgement whose due date has passed and that were not checked yet (capped at 10,000)',
  labels: {},
});

const dueOldest = gauge({
  name: 'acknowledgement_due_oldest_seconds',
  help: 'How long the oldest check of a due request for acknowledgement has been waiting',
  unit: 'seconds',
  labels: {},
});

/** All metrics of the sharing service. */
export const sharingMetrics = [responses, assets, passwordChecks, acknowledgements, dueChecks, dueOldest];

/** Counts one response. */
export type CountResponse = (labels: {
  format: 'html' | 'json' | 'reading_html' | 'reading_json';
  cache: 'miss' | 'hit' | 'not_modified';
}) => void;

/** Creates the function that counts responses of public links. */
export function responseCounter(meters: Meters): CountResponse {
  return meters.counter(responses);
}

/** Counts one response with a picture. */
export type CountAsset = (labels: { result: 'sent' | 'not_modified' }) => void;

/** Creates the function that counts responses with a picture. */
export function assetCounter(meters: Meters): CountAsset {
  return meters.counter(assets);
}

/** Creates the function that counts the checks of passwords. */
export function passwordCheckCounter(meters: Meters) {
  return meters.counter(passwordChecks);
}

/** Counts one acknowledgement. */
export type CountAcknowledgement = (labels: { kind: 'member' | 'reader' }) => void;

/** Creates the function that counts acknowledgements. */
export function acknowledgementCounter(meters: Meters): CountAcknowledgement {
  return meters.counter(acknowledgements);
}

/** Registers the gauges of the checks that are due. */
export function registerDueChecks(
  meters: Meters,
  { countDue }: { countDue(now: Date): Promise<{ count: number; oldest: Date | undefined }> },
  now: () => Date,
): void {
  meters.gauge(dueChecks, async () => (await countDue(now())).count);
  meters.gauge(dueOldest, async () => {
    const { oldest } = await countDue(now());
    return oldest ? (now().getTime() - oldest.getTime()) / 1000 : 0;
  });
}
