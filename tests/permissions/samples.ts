/** A request for each row of the table: what it is about, made anew, and a body that the operation takes. */

import { type Stage, templateForm, webhookForm } from './fixture.ts';
import { type Credential, unique, uniqueEmail } from './people.ts';
import type { OperatedName, RowName } from './table.ts';

/** One request, ready to be sent by anyone. */
export interface Sample {
  params?: Record<string, string>;
  query?: string;
  /** Made for each sending. */
  body?: (as: Credential) => unknown;
  /** Whether it ends the credential that sends it: another person of the same kind does it then. */
  ends?: true;
  /** Part of the answer for whoever may (`yes`); whoever acts on their own things (`own`) neither sees nor changes it. */
  shows?: string;
}

/** Makes a request about things of its own. */
export type Prepare = (stage: Stage) => Sample | Promise<Sample>;

const nothing: Prepare = () => ({});
const ofOrganization: Prepare = ({ people }) => ({ shows: people.admin.organizationId });

const identity = {
  getSigningKeys: nothing,
  logIn: ({ people: { admin } }) => ({ body: () => ({ email: admin.email, password: admin.password }) }),
  logOut: () => ({ body: () => ({ refresh_token: unique('unknown') }) }),
  refreshSession: async (stage) => {
    const { refresh_token } = await stage.session();
    return { body: () => ({ refresh_token }) };
  },
  registerOrganization: () => ({ body: newOrganization }),
  getOpenApi: nothing,
  getReferencePage: nothing,
  getReferenceAsset: () => ({ params: { file: 'start.js' } }),
  getStartPage: nothing,
  getApiStartPage: nothing,

  getMe: ofOrganization,
  updatePassword: () => ({
    body: ({ password }) => ({ current_password: password, new_password: `${password}, newly` }),
    ends: true,
  }),
  listRoles: nothing,
  listMembers: ({ people }) => ({ shows: people.member.userId }),
  updateMember: async (stage) => {
    const { userId } = await stage.newMember();
    return { params: { member_id: userId }, body: () => ({ role: 'admin' }) };
  },
  deleteMember: async (stage) => ({ params: { member_id: (await stage.newMember()).userId } }),
  createInvitation: () => ({ body: () => ({ email: uniqueEmail() }) }),
  listInvitations: async (stage) => ({ shows: (await stage.invitation()).invitation_id }),
  deleteInvitation: async (stage) => {
    const { invitation_id } = await stage.invitation();
    return { params: { invitation_id } };
  },
  acceptInvitation: async (stage) => {
    const { token } = await stage.invitation();
    return { body: () => ({ token, name: 'Guest', password: 'quiet meadow lantern 7' }) };
  },
  createPasswordReset: async (stage) => ({ params: { member_id: (await stage.newMember()).userId } }),
  resetPassword: async (stage) => {
    const { token } = await stage.passwordReset();
    return { body: () => ({ token, password: 'quiet meadow lantern 9' }) };
  },
  getOrganization: ofOrganization,
  updateOrganization: ({ people }) => ({
    body: () => ({ name: unique('Organization') }),
    shows: people.admin.organizationId,
  }),
  getSubscription: nothing,
  listDepartments: async (stage) => ({ shows: (await stage.department()).department_id }),
  createDepartment: () => ({ body: () => ({ name: unique('Department') }) }),
  updateDepartment: async (stage) => ({
    params: await stage.department(),
    body: () => ({ name: unique('Renamed') }),
  }),
  deleteDepartment: async (stage) => ({ params: await stage.department() }),

  createApiKey: () => ({ body: () => ({ name: unique('Key') }) }),
  'createApiKey with the role admin': () => ({ body: () => ({ name: unique('Key'), role: 'admin' }) }),
  listApiKeys: async (stage) => ({ shows: (await stage.apiKey()).key_id }),
  deleteApiKey: async (stage) => ({ params: await stage.apiKey() }),
  listInbox: async (stage) => ({ shows: (await stage.inboxItem()).item_id }),
  countInbox: nothing,
  markInboxItemRead: async (stage) => ({ params: await stage.inboxItem() }),
  markInboxRead: async (stage) => ({ shows: (await stage.inboxItem()).item_id }),
  deleteInboxItem: async (stage) => ({ params: await stage.inboxItem() }),
} satisfies Record<string, Prepare>;

const documents = {
  createDocument: ({ people }) => ({
    body: () => ({ title: unique('Document') }),
    shows: people.admin.organizationId,
  }),
  listDocuments: async (stage) => ({ shows: (await stage.draft()).doc_id }),
  countDocuments: nothing,
  getDocument: async (stage) => aboutDocument(await stage.draft()),
  updateDocument: async (stage) => ({
    ...aboutDocument(await stage.draft()),
    body: () => ({ title: unique('Title') }),
  }),
  deleteDocument: async (stage) => aboutDocument(await stage.draft()),
  duplicateDocument: async (stage) => aboutDocument(await stage.draft()),
  createNode: async (stage) => ({
    ...aboutDocument(await stage.draft()),
    body: () => ({ node_type: 'section', title: 'Two', order: 2 }),
  }),
  updateNode: async (stage) => ({ params: await stage.draft(), body: () => ({ title: unique('Node') }) }),
  deleteNode: async (stage) => ({ params: await stage.draft() }),
  reorderNodes: async (stage) => {
    const { doc_id, node_id } = await stage.draft();
    return { params: { doc_id }, body: () => ({ nodes: [{ node_id, order: 7 }] }) };
  },
  replaceTree: async (stage) => ({
    ...aboutDocument(await stage.draft()),
    body: () => ({ nodes: [{ node_type: 'section', title: 'Other' }] }),
  }),
  publishDocument: async (stage) => aboutDocument(await stage.draft()),
  reviseDocument: async (stage) => aboutDocument(await stage.published()),
  archiveDocument: async (stage) => aboutDocument(await stage.published()),
  listVersions: async (stage) => aboutDocument(await stage.published()),
  assignEditor: async (stage) => ({
    ...aboutDocument(await stage.draft()),
    body: () => ({ editor_id: stage.people.member.userId }),
  }),
  triggerWebhooks: async (stage) => ({
    ...aboutDocument(await stage.published()),
    body: () => ({ event_type: 'document.published' }),
  }),
} satisfies Record<string, Prepare>;

const sharing = {
  createShareToken: async (stage) => aboutDocument(await stage.published()),
  getShareToken: async (stage) => aboutDocument(await stage.shared()),
  deleteShareToken: async (stage) => aboutDocument(await stage.shared()),
  getEmbeddedDocument: async (stage) => {
    const { org_slug, token } = await stage.shared();
    return { params: { org_slug, token } };
  },
} satisfies Record<string, Prepare>;

const exporting = {
  createTemplate: ({ people }) => ({ body: templateForm, shows: people.admin.organizationId }),
  listTemplates: async (stage) => ({ shows: (await stage.template()).template_id }),
  deleteTemplate: async (stage) => ({ params: await stage.template() }),
  exportWord: async (stage) => {
    const { template_id } = await stage.template();
    return { ...aboutDocument(await stage.draft()), query: `?template_id=${template_id}` };
  },
  exportMarkdown: async (stage) => aboutDocument(await stage.draft()),
} satisfies Record<string, Prepare>;

const webhooks = {
  createWebhook: ({ people }) => ({ body: webhookForm, shows: people.admin.organizationId }),
  listWebhooks: async (stage) => ({ shows: (await stage.webhook()).config_id }),
  getWebhook: async (stage) => ofWebhook(await stage.webhook()),
  updateWebhook: async (stage) => ({
    ...ofWebhook(await stage.webhook()),
    body: () => ({ name: unique('Hook') }),
  }),
  rotateWebhookSecret: async (stage) => ofWebhook(await stage.webhook()),
  deleteWebhook: async (stage) => ({ params: await stage.webhook() }),
  testWebhook: async (stage) => ({ params: await stage.webhook() }),
  listWebhookEvents: async (stage) => ({ shows: (await stage.logged()).config_id }),
  redeliverWebhookEvent: async (stage) => ({ params: await stage.entry() }),
  redeliverFailedEvents: async (stage) => {
    const { config_id } = await stage.webhook();
    const since = '2026-01-01T00:00:00Z';
    return {
      body: async ({ actor, token }) =>
        actor === 'other organization'
          ? { ...(await stage.foreignWebhook(token)), since }
          : { config_id, since },
    };
  },
} satisfies Record<string, Prepare>;

/** A request for each row of the table. */
export const samples: Record<RowName, Prepare> = {
  ...identity,
  ...documents,
  ...sharing,
  ...exporting,
  ...webhooks,
};

/** A request for each operation of the operator. */
export const operatedSamples: Record<OperatedName, Prepare> = {
  setSubscription: ({ people }) => ({
    params: { organization_id: people.admin.organizationId },
    body: () => ({ plan: 'scale' }),
  }),
  resetAccountPassword: async (stage) => {
    const { email } = await stage.newMember();
    return { body: () => ({ email }) };
  },
};

function aboutDocument({ doc_id }: { doc_id: string }): Sample {
  return { params: { doc_id } };
}

function ofWebhook({ config_id }: { config_id: string }): Sample {
  return { params: { config_id }, shows: config_id };
}

function newOrganization() {
  const organization_name = unique('Organization');
  return { organization_name, name: 'Founder', email: uniqueEmail(), password: 'quiet meadow lantern 7' };
}
