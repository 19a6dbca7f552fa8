/** Metering: what operators are told of public links. */
import { counter, type Meters } from '#libs/service';

const answers = counter({
  name: 'embed_answers_total',
  help: 'Public documents that were answered, by form: `rendered`, `kept` from an earlier answer, `unchanged` since the client had it (304)',
  labels: { form: ['html', 'json'], made: ['rendered', 'kept', 'unchanged'] },
});

/** What the sharing service tells of itself. */
export const sharingMetrics = [answers];

/** Counts an answer. */
export type Metering = (of: { form: 'html' | 'json'; made: 'rendered' | 'kept' | 'unchanged' }) => void;

/** Keeps the metrics of public links. */
export function metering(meters: Meters): Metering {
  return meters.counter(answers);
}
