/** Provides a client for tests of approval. */
import type { AnyJson, TestResponse } from '#libs/testing';
import type { TestContext, TestMember } from './test-context.ts';

/** A request for approval, as far as tests send it back. */
interface SubmittedDraft {
  id: string;
  content_hash: string;
}

/** Sends requests about approval. */
export interface ApprovalClient {
  /** Submits a draft with these approvers and returns the response. */
  submit(member: TestMember, document_id: string, approvers?: readonly TestMember[]): Promise<TestResponse>;
  /** Submits a draft and returns the request. Throws if this fails. */
  createRequest(member: TestMember, document_id: string, approvers?: readonly TestMember[]): Promise<AnyJson>;
  approve(member: TestMember, request: SubmittedDraft): Promise<TestResponse>;
  reject(member: TestMember, request: SubmittedDraft): Promise<TestResponse>;
  withdraw(member: TestMember, id: string): Promise<TestResponse>;
  setApprovers(member: TestMember, doc_id: string, approvers: readonly TestMember[]): Promise<TestResponse>;
  get(member: TestMember, id: string): Promise<TestResponse>;
  /** Returns the ids of the requests in a list. */
  list(member: TestMember, query?: string): Promise<string[]>;
  /** Sets whether the organization requires approvals. */
  require(admin: TestMember, approval_required: boolean): Promise<TestResponse>;
}

/** Creates the client of a test context. */
export function approvalClient({ app, request }: TestContext): ApprovalClient {
  const toIds = (members?: readonly TestMember[]) => members?.map(({ id }) => id);
  const post = ({ as }: TestMember, path: string, body?: unknown) =>
    app.request('POST', `/approvals${path}`, { as, ...(body !== undefined && { body }) });
  const client: ApprovalClient = {
    submit: (member, document_id, approvers) =>
      post(member, '', { document_id, ...(approvers && { approver_ids: toIds(approvers) }) }),
    async createRequest(member, document_id, approvers) {
      const { status, body } = await client.submit(member, document_id, approvers);
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    approve: (member, { id, content_hash }) =>
      post(member, `/${id}/decision`, { decision: 'approve', content_hash }),
    reject: (member, { id, content_hash }) =>
      post(member, `/${id}/decision`, { decision: 'reject', content_hash, comment: 'No.' }),
    withdraw: (member, id) => post(member, `/${id}/withdraw`),
    setApprovers: (member, doc_id, approvers) =>
      request(member, 'PATCH', `${doc_id}/approvers`, { approver_ids: toIds(approvers) }),
    get: ({ as }, id) => app.request('GET', `/approvals/${id}`, { as }),
    async list({ as }, query = '') {
      const { body } = await app.request('GET', `/approvals${query}`, { as });
      return body.map(({ id }: { id: string }) => id);
    },
    require: ({ as }, approval_required) =>
      app.request('PATCH', '/organization', { as, body: { settings: { approval_required } } }),
  };
  return client;
}
