/** The commands on the review cycle of documents. */
import type { Document } from '../generated/contract.ts';
import { command } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { asPerson, personOptions } from './login.ts';

const id = { name: 'id', description: 'Id of the document' } as const;

const review = command({
  name: 'docs review',
  summary: 'Set who reviews a document, and how often',
  details: 'Applies to all versions of the document.',
  arguments: [id],
  options: {
    reviewer: { type: 'string', value: 'ID|none', description: 'The member who confirms the document' },
    every: { type: 'string', value: 'MONTHS|never', description: 'Months between two reviews, 1 to 60' },
  },
  async run(context, { arguments: { id: doc_id }, options: { reviewer, every } }) {
    if (reviewer === undefined && every === undefined)
      throw new UsageError('--reviewer or --every is missing.');
    const body = {
      ...(reviewer !== undefined && { reviewer_id: reviewer === 'none' ? null : reviewer }),
      ...(every !== undefined && { every_months: parseMonths(every) }),
    };
    const document = await (await context.client()).updateReview({ doc_id, body });
    context.show(document, () => describeReview(document));
    return undefined;
  },
});

const confirm = command({
  name: 'docs confirm',
  summary: 'Confirm that a published document is still correct',
  details: `An API key cannot confirm: asks for your password, or reads it from stdin, and logs in for this command only.
Without --email, PDS_KEY must be an access token.`,
  arguments: [id],
  options: {
    ...personOptions,
    comment: { type: 'string', value: 'TEXT', description: 'What you have checked' },
  },
  async run(context, { arguments: { id: doc_id }, options: { comment = null, ...person } }) {
    const body = { comment };
    const document = await asPerson(context, person, (client) => client.confirmReview({ doc_id, body }));
    context.show(document, () => `Confirmed "${document.title}". ${describeReview(document)}`);
    return undefined;
  },
});

/** The commands on reviews. */
export const reviewCommands = [review, confirm];

function parseMonths(text: string): number | null {
  if (text === 'never') return null;
  if (!/^\d{1,2}$/.test(text)) throw new UsageError('--every must be a number of months, 1 to 60, or never.');
  return Number(text);
}

function describeReview({ review, status }: Document): string {
  if (!review?.every_months) return 'No review is due.';
  const interval = review.every_months === 1 ? 'every month' : `every ${review.every_months} months`;
  if (review.due_at) return `To be reviewed ${interval}, next by ${review.due_at.slice(0, 10)}.`;
  return `To be reviewed ${interval}${status === 'draft' ? ' after it is published' : ''}.`;
}
