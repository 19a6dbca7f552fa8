/** The commands on requests for approval. */
import type { Approval } from '../generated/contract.ts';
import { command } from './command.ts';
import { formatTable } from './context.ts';
import { UsageError } from './exit-codes.ts';
import { asPerson, personOptions } from './login.ts';

const request = { name: 'request', description: 'Id of the request for approval' } as const;
const statuses = ['pending', 'approved', 'rejected', 'withdrawn'] as const;

const submit = command({
  name: 'approvals submit',
  summary: 'Submit a draft for approval',
  details: 'Prints the id of the request. The draft cannot be changed until it is rejected or withdrawn.',
  arguments: [{ name: 'id', description: 'Id of the draft' }],
  options: {
    approver: {
      ...{ type: 'string', value: 'ID', isRepeated: true },
      description: 'A member to ask in addition to the approvers of the document',
    },
    comment: { type: 'string', value: 'TEXT', description: 'What the approvers should know' },
  },
  async run(context, { arguments: { id: document_id }, options: { approver, comment } }) {
    const body = { document_id, approver_ids: approver, ...(comment !== undefined && { comment }) };
    const approval = await (await context.client()).requestApproval({ body });
    context.show(approval, () => approval.id);
    return undefined;
  },
});

const list = command({
  name: 'approvals list',
  summary: 'List requests for approval, newest first',
  options: {
    status: {
      ...{ type: 'string', choices: statuses, isRepeated: true },
      description: 'Only requests with this status',
    },
    document: { type: 'string', value: 'ID', description: 'Only requests for this version of a document' },
    mine: { type: 'boolean', description: 'Only requests that await your decision' },
    limit: { type: 'integer', description: 'How many at most. Default: 20' },
  },
  async run(context, { options: { status, document, mine, limit = 20 } }) {
    if (limit < 1) throw new UsageError('--limit must be 1 or more.');
    const input = {
      ...(status.length > 0 && { status }),
      ...(document !== undefined && { document_id: document }),
      ...(mine && { awaiting: 'me' as const }),
      limit: Math.min(limit, 100),
    };
    const approvals: Approval[] = [];
    for await (const approval of (await context.client()).iterate.listApprovals(input)) {
      approvals.push(approval);
      if (approvals.length >= limit) break;
    }
    context.show(approvals, () =>
      formatTable(
        ['ID', 'STATUS', 'CREATED', 'APPROVED', 'DOCUMENT'],
        approvals.map((one) => [
          one.id,
          one.status,
          one.created_at.slice(0, 16),
          countApproved(one),
          one.document_id,
        ]),
      ),
    );
    return undefined;
  },
});

/** The options of a decision: who makes it, and why. */
const decisionOptions = {
  ...personOptions,
  comment: { type: 'string', value: 'TEXT', description: 'Your comment; required to reject' },
} as const;

const inPerson = `An API key cannot decide: asks for your password, or reads it from stdin, and logs in for this command only.
Without --email, PDS_KEY must be an access token.`;

const approve = command({
  name: 'approvals approve',
  summary: 'Approve a draft',
  details: inPerson,
  arguments: [request],
  options: decisionOptions,
  async run(context, { arguments: { request: approval_id }, options }) {
    const { comment = null } = options;
    const approval = await asPerson(context, options, async (client) => {
      const { content_hash } = await client.getApproval({ approval_id });
      const body = { decision: 'approve', content_hash, comment } as const;
      return client.decideApproval({ approval_id, body });
    });
    context.show(
      approval,
      () => `Approved: ${countApproved(approval)} have approved. The request is ${approval.status}.`,
    );
    return undefined;
  },
});

const reject = command({
  name: 'approvals reject',
  summary: 'Reject a draft, with a comment',
  details: inPerson,
  arguments: [request],
  options: decisionOptions,
  async run(context, { arguments: { request: approval_id }, options }) {
    const { comment } = options;
    if (comment === undefined) throw new UsageError('--comment is missing: say what to change.');
    const approval = await asPerson(context, options, async (client) => {
      const { content_hash } = await client.getApproval({ approval_id });
      return client.decideApproval({ approval_id, body: { decision: 'reject', content_hash, comment } });
    });
    context.show(approval, () => 'Rejected. The draft can be changed again.');
    return undefined;
  },
});

const withdraw = command({
  name: 'approvals withdraw',
  summary: 'Withdraw a pending or approved request',
  arguments: [request],
  async run(context, { arguments: { request: approval_id } }) {
    const approval = await (await context.client()).withdrawApproval({ approval_id });
    context.show(approval, () => 'Withdrawn. The draft can be changed again.');
    return undefined;
  },
});

/** The commands on requests for approval. */
export const approvalCommands = [submit, list, approve, reject, withdraw];

function countApproved({ approvers }: Approval): string {
  return `${approvers.filter(({ decision }) => decision === 'approve').length} of ${approvers.length}`;
}
