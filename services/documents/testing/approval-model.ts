/** A small model of approval: what each action answers, and how it changes a document and its requests. */

/** The people of the model. The admins and the members are in the organization; `clerk` may leave it. */
export const people = ['owner', 'boss', 'peer', 'clerk'] as const;
export type Name = (typeof people)[number];
const admins: readonly Name[] = ['boss', 'peer'];

/** An action of a person. Documents and requests have the names that the model gave them. */
export type ApprovalAction =
  | { type: 'edit' | 'addNode' | 'delete' | 'publish' | 'revise'; by: Name; doc: string }
  | { type: 'submit' | 'setApprovers'; by: Name; doc: string; approvers: readonly Name[] }
  | { type: 'approve' | 'reject' | 'withdraw'; by: Name; request: string }
  | { type: 'require'; by: Name; value: boolean }
  | { type: 'leave'; by: Name };

/** A version of the document. */
export interface ModelVersion {
  status: 'draft' | 'published' | 'archived' | 'deleted';
  /** Whether it was changed after its publish. */
  isEdited: boolean;
  writers: Name[];
  /** The name of the pending or approved request. */
  request: string | null;
}

/** A request for approval. */
export interface ModelRequest {
  doc: string;
  by: Name;
  status: 'pending' | 'approved' | 'rejected' | 'withdrawn';
  decisions: Partial<Record<Name, 'approve' | 'reject' | null>>;
}

/** What is known of a publish, to check that it was allowed. */
export interface PublishRecord {
  isGated: boolean;
  approvers: readonly Name[];
  request: ModelRequest | undefined;
  writers: readonly Name[];
}

/** The state of the model. */
export interface ApprovalModel {
  versions: Record<string, ModelVersion>;
  requests: Record<string, ModelRequest>;
  approvers: Name[];
  isRequired: boolean;
  members: Name[];
  published: PublishRecord[];
}

/** Creates the model with the draft `d` of the owner. */
export function createApprovalModel(): ApprovalModel {
  const draft: ModelVersion = { status: 'draft', isEdited: false, writers: ['owner'], request: null };
  return {
    versions: { d: draft },
    requests: {},
    approvers: [],
    isRequired: false,
    members: [...people],
    published: [],
  };
}

const isFrozen = ({ status, request }: ModelVersion) => status === 'draft' && request !== null;

/** Applies an action and returns its response, as `status code`. A new version or request is called `name`. */
export function applyApprovalAction(model: ApprovalModel, action: ApprovalAction, name: string): string {
  const { by } = action;
  if (!model.members.includes(by)) return '401 unauthenticated';
  if (action.type === 'require') {
    model.isRequired = action.value;
    return '200';
  }
  if (action.type === 'leave') {
    if (!model.members.includes('clerk')) return '404 not_found';
    model.members = model.members.filter((one) => one !== 'clerk');
    return '204';
  }
  if ('request' in action) return decide(model, action);
  if (action.type === 'submit') return submit(model, action, name);
  if (action.type === 'setApprovers') return setApprovers(model, action);
  return change(model, { ...action, name });
}

function change(
  model: ApprovalModel,
  { type, by, doc, name }: { type: string; by: Name; doc: string; name: string },
): string {
  const version = model.versions[doc];
  if (!version || version.status === 'deleted') return '404 not_found';
  if (by !== 'owner' && !admins.includes(by)) return '403 forbidden';
  const { status } = version;
  switch (type) {
    case 'delete':
      if (status !== 'draft') return '400 document_not_draft';
      if (isFrozen(version)) return '400 document_in_approval';
      version.status = 'deleted';
      return '204';
    case 'publish':
      return publish(model, version);
    case 'revise':
      if (status !== 'published') return '400 document_not_published';
      model.versions[name] = { status: 'draft', isEdited: false, writers: [], request: null };
      return '201';
    default:
      if (status === 'archived') return '400 document_archived';
      if (isFrozen(version)) return '400 document_in_approval';
      if (status === 'published' && (model.isRequired || model.approvers.length > 0))
        return '400 document_locked';
      if (status === 'draft') version.writers = [...new Set([...version.writers, by])];
      else Object.assign(version, { request: null, isEdited: true });
      return type === 'edit' ? '200' : '201';
  }
}

function publish(model: ApprovalModel, version: ModelVersion): string {
  if (version.status !== 'draft') return '400 document_not_draft';
  const request = version.request === null ? undefined : model.requests[version.request];
  const isGated = model.isRequired || model.approvers.length > 0;
  const isAllowed = request
    ? request.status === 'approved' && model.approvers.every((one) => request.decisions[one] === 'approve')
    : !isGated;
  if (!isAllowed) return '400 approval_missing';
  for (const other of Object.values(model.versions))
    if (other.status === 'published') other.status = 'archived';
  version.status = 'published';
  model.published.push(
    structuredClone({ isGated, approvers: model.approvers, request, writers: version.writers }),
  );
  return '200';
}

function submit(
  model: ApprovalModel,
  { by, doc, approvers }: { by: Name; doc: string; approvers: readonly Name[] },
  name: string,
): string {
  const version = model.versions[doc];
  if (!version || version.status === 'deleted') return '400 invalid_request';
  if (by !== 'owner' && !admins.includes(by)) return '403 forbidden';
  if (version.status !== 'draft') return '400 document_not_draft';
  if (isFrozen(version)) return '400 document_in_approval';
  const asked = [...new Set([...model.approvers, ...approvers])];
  if (asked.length === 0) return '400 invalid_request';
  if (asked.some((one) => !model.members.includes(one) || one === by || version.writers.includes(one)))
    return '400 approver_not_eligible';
  version.request = name;
  const decisions = Object.fromEntries(asked.map((one) => [one, null]));
  model.requests[name] = { doc, by, status: 'pending', decisions };
  return '201';
}

function setApprovers(
  model: ApprovalModel,
  { by, doc, approvers }: { by: Name; doc: string; approvers: readonly Name[] },
): string {
  if (!admins.includes(by)) return '403 forbidden';
  const status = model.versions[doc]?.status ?? 'deleted';
  if (status === 'deleted') return '404 not_found';
  if (status === 'archived') return '400 document_archived';
  if (approvers.some((one) => !model.members.includes(one))) return '400 approver_not_eligible';
  model.approvers = [...approvers];
  return '200';
}

function decide(
  model: ApprovalModel,
  { type, by, request: name }: { type: 'approve' | 'reject' | 'withdraw'; by: Name; request: string },
): string {
  const request = model.requests[name];
  if (!request) return '404 not_found';
  const version = model.versions[request.doc];
  if (!version) throw new Error(`The request ${name} has no version`);
  if (type === 'withdraw') {
    const isOwner = by === 'owner' && version.status !== 'deleted';
    if (by !== request.by && !isOwner && !admins.includes(by)) return '403 forbidden';
    if (version.status !== 'draft' || version.request !== name) return '400 approval_closed';
    request.status = 'withdrawn';
    version.request = null;
    return '200';
  }
  if (!(by in request.decisions)) return '403 forbidden';
  if (request.decisions[by] !== null) return '400 already_decided';
  if (request.status !== 'pending') return '400 approval_closed';
  request.decisions[by] = type;
  if (type === 'reject') request.status = 'rejected';
  else if (Object.values(request.decisions).every((one) => one === 'approve')) request.status = 'approved';
  if (request.status === 'rejected') version.request = null;
  return '200';
}

/** Returns true if every gated publish was approved by all approvers, none of whom wrote or submitted the draft. */
export function isFourEyes({ published }: ApprovalModel): boolean {
  return published.every(({ isGated, approvers, request, writers }) => {
    if (!request) return !isGated;
    const approved = people.filter((one) => request.decisions[one] === 'approve');
    const isComplete = [...approvers, ...Object.keys(request.decisions)].every((one) =>
      (approved as string[]).includes(one),
    );
    return isComplete && approved.every((one) => one !== request.by && !writers.includes(one));
  });
}
