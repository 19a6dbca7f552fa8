/** Metering: what operators are told of public links. */
import { counter, type Meters } from '#libs/service';

const answers = counter({
  name: 'embed_responses_total',
  help: 'Responses with a public document, by format: rendered (`miss`), from the cache (`hit`), or 304 (`not_modified`)',
  labels: { format: ['html', 'json'], cache: ['miss', 'hit', 'not_modified'] },
});

/** What the sharing service tells of itself. */
export const sharingMetrics = [answers];

/** Counts an answer. */
export type CountResponse = (labels: {
  format: 'html' | 'json';
  cache: 'miss' | 'hit' | 'not_modified';
}) => void;

/** Keeps the metrics of public links. */
export function responseCounter(meters: Meters): CountResponse {
  return meters.counter(answers);
}
