/** Runs the actions of the approval model over HTTP, and reads the state that is compared with the model. */
import type { ApprovalAction, ApprovalModel, Name } from './approval-model.ts';
import type { TestContext } from './test-context.ts';

/** The state that tests compare: read from the service, or derived from a model. */
interface ApprovalState {
  versions: Record<string, unknown>;
  requests: Record<string, unknown>;
}

/** The documents and requests of one run in a real organization. */
export interface ApprovalRun {
  /** Returns a new name for a version or a request. */
  createName(): string;
  /** Sends an action to the next replica. Returns status and code. */
  send(action: ApprovalAction, name: string): Promise<string>;
  observe(): Promise<ApprovalState>;
}

type Request = [method: string, path: string, body?: object];

/** Starts a run of these members, with the draft `d` of the owner. */
export async function startApprovalRun(
  replicas: readonly [TestContext, TestContext],
  members: Record<Name, { token: string; userId: string }>,
): Promise<ApprovalRun> {
  const { app } = replicas[0];
  const ids = new Map<string, string>();
  const requests = new Map<string, { id: string; content_hash: string }>();
  const toIds = (names: readonly Name[]) => names.map((name) => members[name].userId);
  const toName = (userId: string) => Object.entries(members).find(([, one]) => one.userId === userId)?.[0];
  const findName = (id: string) => [...requests].find(([, one]) => one.id === id)?.[0];
  const read = async (path: string) => app.request('GET', path, { as: members.owner.token });
  let names = 0;
  let sent = 0;

  const draft = await app.request('POST', '/documents', { as: members.owner.token, body: { title: '0' } });
  ids.set('d', draft.body.id);

  return {
    createName: () => `n${names++}`,

    async send(action, name) {
      const [method, path, body] = toRequest(action);
      const replica = replicas[sent++ % 2 === 0 ? 0 : 1];
      const response = await replica.app.request(method, path, {
        ...{ as: members[action.by].token },
        ...(body && { body }),
      });
      if (response.status === 201 && action.type === 'revise') ids.set(name, response.body.id);
      if (response.status === 201 && action.type === 'submit') requests.set(name, response.body);
      return response.status < 400 ? `${response.status}` : `${response.status} ${response.body.code}`;
    },

    async observe() {
      const state: ApprovalState = { versions: {}, requests: {} };
      for (const [name, id] of ids) {
        const { status, body } = await read(`/documents/${id}`);
        state.versions[name] =
          status === 404
            ? 'deleted'
            : {
                status: body.status,
                request: body.approval && findName(body.approval.id),
                isApproved: body.approval?.status === 'approved',
                hasHash: body.content_hash !== null,
                approvers: body.approver_ids.map(toName),
              };
      }
      for (const [name, { id }] of requests) {
        const { body } = await read(`/approvals/${id}`);
        const decisions = body.approvers.map((one: { member_id: string; decision: unknown }) => [
          ...[toName(one.member_id), one.decision],
        ]);
        state.requests[name] = {
          status: body.status,
          by: toName(body.submitted_by),
          decisions: Object.fromEntries(decisions),
        };
      }
      return state;
    },
  };

  function toRequest(action: ApprovalAction): Request {
    if (action.type === 'require')
      return ['PATCH', '/organization', { settings: { approval_required: action.value } }];
    if (action.type === 'leave') return ['DELETE', `/members/${members.clerk.userId}`];
    if ('request' in action) {
      const { id, content_hash } = requests.get(action.request) ?? { id: '', content_hash: '' };
      const decision = { decision: action.type, content_hash, comment: 'Seen.' };
      return action.type === 'withdraw'
        ? ['POST', `/approvals/${id}/withdraw`]
        : ['POST', `/approvals/${id}/decision`, decision];
    }
    const id = ids.get(action.doc) ?? '';
    switch (action.type) {
      case 'submit':
        return ['POST', '/approvals', { document_id: id, approver_ids: toIds(action.approvers) }];
      case 'setApprovers':
        return ['PATCH', `/documents/${id}/approvers`, { approver_ids: toIds(action.approvers) }];
      case 'edit':
        return ['PATCH', `/documents/${id}`, { title: `${sent}` }];
      case 'addNode':
        return ['POST', `/documents/${id}/nodes`, { node_type: 'section', title: 'S', order: sent }];
      case 'delete':
        return ['DELETE', `/documents/${id}`];
      default:
        return ['POST', `/documents/${id}/${action.type}`];
    }
  }
}

/** Derives the expected state from a model. */
export function toModelState({ versions, requests, approvers }: ApprovalModel): ApprovalState {
  const shown = Object.entries(versions).map(([name, { status, request, isEdited }]) => {
    if (status === 'deleted') return [name, 'deleted'] as const;
    const isApproved = request !== null && requests[request]?.status === 'approved';
    const hasHash = status === 'draft' ? request !== null : !isEdited;
    return [name, { status, request, isApproved, hasHash, approvers }] as const;
  });
  const decided = Object.entries(requests).map(([name, { status, by, decisions }]) => [
    ...[name, { status, by, decisions }],
  ]);
  return { versions: Object.fromEntries(shown), requests: Object.fromEntries(decided) };
}
