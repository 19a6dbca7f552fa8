/** A sample request for each row of the permission table, with a new resource and a valid body. */
import { type AnyOperation, newId } from '#libs/contract';
import { importForm, type PermissionFixture, pictureForm, templateForm, webhookForm } from './fixture.ts';
import { type Credential, unique, uniqueEmail } from './people.ts';
import type { OperatorOperation } from './table.ts';

/** A sample request that any credential can send. */
export interface Sample {
  params?: Record<string, string>;
  query?: string;
  /** Creates the body of one request. */
  body?: (as: Credential) => unknown;
  /** Set if the request invalidates its credential; another person of the same kind then sends it. */
  ends?: true;
  /**
   * Text in the response to allowed callers (`yes`). Callers limited to their own data (`own`) neither see it
   * nor change rows that contain it.
   */
  shows?: string;
}

/** Creates a sample request with its own resources. */
export type Prepare = (fixture: PermissionFixture) => Sample | Promise<Sample>;

const withoutParams: Prepare = () => ({});
const aboutOrganization: Prepare = ({ people }) => ({ shows: people.admin.organizationId });

const identity = {
  getSigningKeys: withoutParams,
  logIn: ({ people: { admin } }) => ({ body: () => ({ email: admin.email, password: admin.password }) }),
  logOut: () => ({ body: () => ({ refresh_token: unique('unknown') }) }),
  refreshSession: async (fixture) => {
    const { refresh_token } = await fixture.session();
    return { body: () => ({ refresh_token }) };
  },
  registerOrganization: () => ({ body: newOrganization }),
  getOpenApi: withoutParams,
  getReferencePage: withoutParams,
  getReferenceAsset: () => ({ params: { file: 'start.js' } }),
  getStartPage: withoutParams,
  getApiStartPage: withoutParams,

  getMe: aboutOrganization,
  updatePassword: () => ({
    body: ({ password }) => ({ current_password: password, new_password: `${password}, newly` }),
    ends: true,
  }),
  listRoles: withoutParams,
  listMembers: ({ people }) => ({ shows: people.member.userId }),
  updateMember: async (fixture) => {
    const { userId } = await fixture.newMember();
    return { params: { member_id: userId }, body: () => ({ role: 'admin' }) };
  },
  deleteMember: async (fixture) => ({ params: { member_id: (await fixture.newMember()).userId } }),
  createInvitation: () => ({ body: () => ({ email: uniqueEmail() }) }),
  listInvitations: async (fixture) => ({ shows: (await fixture.invitation()).invitation_id }),
  deleteInvitation: async (fixture) => {
    const { invitation_id } = await fixture.invitation();
    return { params: { invitation_id } };
  },
  acceptInvitation: async (fixture) => {
    const { token } = await fixture.invitation();
    return { body: () => ({ token, name: 'Guest', password: 'quiet meadow lantern 7' }) };
  },
  createPasswordReset: async (fixture) => ({ params: { member_id: (await fixture.newMember()).userId } }),
  resetPassword: async (fixture) => {
    const { token } = await fixture.passwordReset();
    return { body: () => ({ token, password: 'quiet meadow lantern 9' }) };
  },
  getOrganization: aboutOrganization,
  updateOrganization: ({ people }) => ({
    body: () => ({ name: unique('Organization') }),
    shows: people.admin.organizationId,
  }),
  getSubscription: withoutParams,
  listDepartments: async (fixture) => ({ shows: (await fixture.department()).department_id }),
  createDepartment: () => ({ body: () => ({ name: unique('Department') }) }),
  updateDepartment: async (fixture) => ({
    params: await fixture.department(),
    body: () => ({ name: unique('Renamed') }),
  }),
  deleteDepartment: async (fixture) => ({ params: await fixture.department() }),

  createApiKey: () => ({ body: () => ({ name: unique('Key') }) }),
  'createApiKey with the role admin': () => ({ body: () => ({ name: unique('Key'), role: 'admin' }) }),
  listApiKeys: async (fixture) => ({ shows: (await fixture.apiKey()).key_id }),
  deleteApiKey: async (fixture) => ({ params: await fixture.apiKey() }),
  deleteOwnApiKeys: async (fixture) => ({ shows: (await fixture.apiKey()).key_id, ends: true }),
  listAuditLog: async (fixture) => ({ shows: await fixture.auditEntry() }),
  exportAuditLog: async (fixture) => ({ shows: await fixture.auditEntry() }),
  listInbox: async (fixture) => ({ shows: (await fixture.inboxItem()).item_id }),
  countInbox: withoutParams,
  markInboxItemRead: async (fixture) => ({ params: await fixture.inboxItem() }),
  markInboxRead: async (fixture) => ({ shows: (await fixture.inboxItem()).item_id }),
  deleteInboxItem: async (fixture) => ({ params: await fixture.inboxItem() }),
} satisfies Record<string, Prepare>;

const documents = {
  createDocument: ({ people }) => ({
    body: () => ({ title: unique('Document') }),
    shows: people.admin.organizationId,
  }),
  listDocuments: async (fixture) => ({ shows: (await fixture.draft()).doc_id }),
  countDocuments: withoutParams,
  getDocument: async (fixture) => aboutDocument(await fixture.draft()),
  updateDocument: async (fixture) => ({
    ...aboutDocument(await fixture.draft()),
    body: () => ({ title: unique('Title') }),
  }),
  deleteDocument: async (fixture) => aboutDocument(await fixture.draft()),
  duplicateDocument: async (fixture) => aboutDocument(await fixture.draft()),
  previewImport: () => ({ body: importForm }),
  createImport: ({ people }) => ({ body: importForm, shows: people.admin.organizationId }),
  createAsset: () => ({ body: pictureForm }),
  getAsset: async (fixture) => ({ params: await fixture.asset() }),
  createNode: async (fixture) => ({
    ...aboutDocument(await fixture.draft()),
    body: () => ({ node_type: 'section', title: 'Two', order: 2 }),
  }),
  updateNode: async (fixture) => ({ params: await fixture.draft(), body: () => ({ title: unique('Node') }) }),
  deleteNode: async (fixture) => ({ params: await fixture.draft() }),
  reorderNodes: async (fixture) => {
    const { doc_id, node_id } = await fixture.draft();
    return { params: { doc_id }, body: () => ({ nodes: [{ node_id, order: 7 }] }) };
  },
  replaceTree: async (fixture) => ({
    ...aboutDocument(await fixture.draft()),
    body: () => ({ nodes: [{ node_type: 'section', title: 'Other' }] }),
  }),
  publishDocument: async (fixture) => aboutDocument(await fixture.draft()),
  reviseDocument: async (fixture) => aboutDocument(await fixture.published()),
  archiveDocument: async (fixture) => aboutDocument(await fixture.published()),
  restoreDocument: async (fixture) => aboutDocument(await fixture.archived()),
  listVersions: async (fixture) => aboutDocument(await fixture.published()),
  compareVersions: async (fixture) => aboutDocument(await fixture.published()),
  assignEditor: async (fixture) => ({
    ...aboutDocument(await fixture.draft()),
    body: () => ({ editor_id: fixture.people.member.userId }),
  }),
  updateReview: async (fixture) => ({
    ...aboutDocument(await fixture.published()),
    body: () => ({ reviewer_id: fixture.people.member.userId, every_months: 12 }),
  }),
  confirmReview: async (fixture) => aboutDocument(await fixture.reviewed()),
  updateApprovers: async (fixture) => ({
    ...aboutDocument(await fixture.draft()),
    body: () => ({ approver_ids: [fixture.people.member.userId] }),
  }),
  requestApproval: async (fixture) => {
    const { doc_id: document_id } = await fixture.draft();
    const approver_ids = [fixture.people.member.userId];
    return { body: () => ({ document_id, approver_ids }) };
  },
  listApprovals: async (fixture) => ({ shows: (await fixture.approval()).approval_id }),
  getApproval: async (fixture) => aboutApproval(await fixture.approval()),
  decideApproval: async (fixture) => {
    const { content_hash, ...approval } = await fixture.approval();
    return { ...aboutApproval(approval), body: () => ({ decision: 'approve', content_hash }) };
  },
  withdrawApproval: async (fixture) => aboutApproval(await fixture.approval()),
  triggerWebhooks: async (fixture) => ({
    ...aboutDocument(await fixture.published()),
    body: () => ({ event_type: 'document.published' }),
  }),
} satisfies Record<string, Prepare>;

const sharing = {
  createShareToken: async (fixture) => aboutDocument(await fixture.published()),
  getShareToken: async (fixture) => aboutDocument(await fixture.shared()),
  updateShareToken: async (fixture) => ({
    ...aboutDocument(await fixture.shared()),
    body: () => ({ allowed_origins: ['https://intranet.example'] }),
  }),
  deleteShareToken: async (fixture) => aboutDocument(await fixture.shared()),
  getEmbeddedAsset: async (fixture) => ({ params: await fixture.sharedAsset() }),
  getEmbeddedDocument: async (fixture) => {
    const { org_slug, token } = await fixture.shared();
    return { params: { org_slug, token } };
  },
  submitSharePassword: async (fixture) => {
    const { password, ...params } = await fixture.protectedLink();
    return { params, body: () => new URLSearchParams({ password }) };
  },
  requestAcknowledgement: async (fixture) => {
    const { doc_id: document_id } = await fixture.lockedDocument();
    return { body: () => ({ document_id }) };
  },
  listAcknowledgementRequests: async (fixture) => ({
    shows: (await fixture.acknowledgementRequest()).request_id,
  }),
  getAcknowledgementRequest: async (fixture) => aboutRequest(await fixture.acknowledgementRequest()),
  updateAcknowledgementRequest: async (fixture) => ({
    ...aboutRequest(await fixture.acknowledgementRequest()),
    body: () => ({ due_days: 30 }),
  }),
  closeAcknowledgementRequest: async (fixture) => aboutRequest(await fixture.acknowledgementRequest()),
  addReaders: async (fixture) => {
    const { request_id } = await fixture.acknowledgementRequest();
    const body = () => ({ readers: [{ external_id: unique('E'), name: 'Reader' }] });
    return { params: { request_id }, body };
  },
  deleteReader: async (fixture) => {
    const { request_id, person_id } = await fixture.reader();
    return { params: { request_id, person_id } };
  },
  listPeople: async (fixture) => {
    const { request_id, person_id } = await fixture.reader();
    return { params: { request_id }, shows: person_id };
  },
  createAcknowledgement: async (fixture) => {
    const { doc_id: document_id, content_hash } = await fixture.acknowledgementRequest();
    return { body: () => ({ document_id, content_hash }) };
  },
  listAcknowledgements: async (fixture) => ({ shows: (await fixture.acknowledgement()).acknowledgement_id }),
  getReadingAsset: async (fixture) => ({ params: await fixture.assetOfReader() }),
  readDocument: async (fixture) => ({ params: { token: (await fixture.reader()).token } }),
  acknowledgeByLink: async (fixture) => {
    const { token, content_hash } = await fixture.reader();
    return { params: { token }, body: () => new URLSearchParams({ content_hash }) };
  },
} satisfies Record<string, Prepare>;

const exports = {
  createTemplate: ({ people }) => ({ body: templateForm, shows: people.admin.organizationId }),
  listTemplates: async (fixture) => ({ shows: (await fixture.template()).template_id }),
  deleteTemplate: async (fixture) => ({ params: await fixture.template() }),
  exportWord: async (fixture) => {
    const { template_id } = await fixture.template();
    return { ...aboutDocument(await fixture.draft()), query: `?template_id=${template_id}` };
  },
  exportMarkdown: async (fixture) => aboutDocument(await fixture.draft()),
  exportHtml: async (fixture) => aboutDocument(await fixture.draft()),
  // without documents, so that the number of commands does not depend on the other samples
  exportLibrary: () => ({ query: '?department=Nowhere' }),
} satisfies Record<string, Prepare>;

const webhooks = {
  createWebhook: ({ people }) => ({ body: webhookForm, shows: people.admin.organizationId }),
  listWebhooks: async (fixture) => ({ shows: (await fixture.webhook()).config_id }),
  getWebhook: async (fixture) => aboutWebhook(await fixture.webhook()),
  updateWebhook: async (fixture) => ({
    ...aboutWebhook(await fixture.webhook()),
    body: () => ({ name: unique('Hook') }),
  }),
  rotateWebhookSecret: async (fixture) => aboutWebhook(await fixture.webhook()),
  deleteWebhook: async (fixture) => ({ params: await fixture.webhook() }),
  testWebhook: async (fixture) => ({ params: await fixture.webhook() }),
  listWebhookEvents: async (fixture) => ({ shows: (await fixture.testedWebhook()).config_id }),
  getWebhookEvent: async (fixture) => ({ params: await fixture.logEntry() }),
  redeliverWebhookEvent: async (fixture) => ({ params: await fixture.logEntry() }),
  redeliverFailedEvents: async (fixture) => {
    const { config_id } = await fixture.webhook();
    const since = '2026-01-01T00:00:00Z';
    return {
      body: async ({ actor, token }) =>
        actor === 'other organization'
          ? { ...(await fixture.webhookOfCaller(token)), since }
          : { config_id, since },
    };
  },
  createWebhookListener: async (fixture) => {
    await fixture.withoutListeners();
    return {};
  },
  receiveWebhookEvents: async (fixture) => ({ params: await fixture.listener() }),
  confirmWebhookEvents: async (fixture) => ({
    params: await fixture.listener(),
    body: () => ({ event_ids: [newId()] }),
  }),
  deleteWebhookListener: async (fixture) => ({ params: await fixture.listener() }),
} satisfies Record<string, Prepare>;

/** The sample request of each row of the table. */
export const samples = {
  ...identity,
  ...documents,
  ...sharing,
  ...exports,
  ...webhooks,
} satisfies Record<string, Prepare>;
export type RowName = keyof typeof samples;

/** Whether only the owner can send the sample requests of an operation, because the resource is personal. */
export function isOfOwner(operationId: string): boolean {
  return /Inbox|WebhookListener$|^(receive|confirm)WebhookEvents$/.test(operationId);
}

/** The sample request of each operation of the operator. */
export const operatorSamples: Record<OperatorOperation, Prepare> = {
  createOrganization: () => ({ body: () => ({ name: unique('Organization') }) }),
  inviteToOrganization: ({ people }) => ({
    params: { organization_id: people.admin.organizationId },
    body: () => ({ email: uniqueEmail() }),
  }),
  setSubscription: ({ people }) => ({
    params: { organization_id: people.admin.organizationId },
    body: () => ({ plan: 'scale' }),
  }),
  resetAccountPassword: async (fixture) => {
    const { email } = await fixture.newMember();
    return { body: () => ({ email }) };
  },
};

/** The path and query of a sample request. Throws if the sample lacks a parameter of the path. */
export function fillPath({ id, path }: AnyOperation, { params = {}, query = '' }: Sample): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${id} needs ${name}`);
    return value;
  });
  return filled + query;
}

function aboutDocument({ doc_id }: { doc_id: string }): Sample {
  return { params: { doc_id } };
}

function aboutApproval({ approval_id }: { approval_id: string }): Sample {
  return { params: { approval_id }, shows: approval_id };
}

function aboutRequest({ request_id }: { request_id: string }): Sample {
  return { params: { request_id }, shows: request_id };
}

function aboutWebhook({ config_id }: { config_id: string }): Sample {
  return { params: { config_id }, shows: config_id };
}

function newOrganization() {
  const organization_name = unique('Organization');
  return { organization_name, name: 'Admin', email: uniqueEmail(), password: 'quiet meadow lantern 7' };
}
