/** Creates resources for the permission matrix, through the API as the owner or as an admin. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addMember, type Member, must, type TestApp, type TestResponse, until } from '#libs/testing';
import { encodePng } from '../fixtures/generators/png.ts';
import { type People, unique, uniqueEmail } from './people.ts';

const corporateTemplate = new URL('../fixtures/corporate-template.docx', import.meta.url);

/** The form of a template upload. */
export async function templateForm(): Promise<FormData> {
  const form = new FormData();
  form.append('name', unique('Template'));
  form.append('file', new Blob([new Uint8Array(await readFile(corporateTemplate))]), 'template.docx');
  return form;
}

/** The form of an import of a Markdown file. */
export function importForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['# Opening\n\n## Lights\n\nSwitch on the lights.\n']), 'opening.md');
  return form;
}

/** The form of an upload of a new picture. */
export function pictureForm(): FormData {
  const form = new FormData();
  const color = [...randomBytes(3), 255];
  form.append('file', new Blob([new Uint8Array(encodePng(1, 1, () => color))]), 'picture.png');
  return form;
}

/** A webhook to create. Its URL has no server, and the setup of the matrix never archives a document. */
export function webhookForm() {
  return { name: unique('Hook'), url: 'http://127.0.0.1:9/hook', event_types: ['document.archived'] };
}

/** Functions that create resources, and the people who own them. */
export type PermissionFixture = ReturnType<typeof permissionFixture>;

/** Creates the functions for these people. */
export function permissionFixture(app: TestApp, people: People) {
  const { admin, owner, editor } = people;
  const byOwner = (path: string, body?: unknown) => must(app, 'POST', path, { as: owner.token, body });
  const byAdmin = (path: string, body?: unknown) => must(app, 'POST', path, { as: admin.token, body });

  return {
    people,

    draft,

    async published(): Promise<{ doc_id: string; node_id: string }> {
      const document = await draft();
      await byOwner(`/documents/${document.doc_id}/publish`);
      return document;
    },

    /** Creates a document that a revision has replaced, which triggers no webhook. */
    async archived(): Promise<{ doc_id: string; node_id: string }> {
      const document = await this.published();
      const revision = await byOwner(`/documents/${document.doc_id}/revise`);
      await byOwner(`/documents/${revision.id}/publish`);
      return document;
    },

    /** Creates a published document that the editor reviews. */
    async reviewed(): Promise<{ doc_id: string; node_id: string }> {
      const document = await this.published();
      const body = { reviewer_id: editor.userId, every_months: 12 };
      await must(app, 'PATCH', `/documents/${document.doc_id}/review`, { as: owner.token, body });
      return document;
    },

    /** Submits a draft of the owner, which the admin must approve. */
    async approval(): Promise<{ approval_id: string; doc_id: string; content_hash: string }> {
      const { doc_id } = await draft();
      const body = { document_id: doc_id, approver_ids: [admin.userId] };
      const { id, content_hash } = await byOwner('/approvals', body);
      return { approval_id: id, doc_id, content_hash };
    },

    /** Asks the owner and the admin to acknowledge a document, which is locked because it has an approver. */
    async acknowledgementRequest(document?: {
      doc_id: string;
    }): Promise<{ request_id: string; doc_id: string; content_hash: string }> {
      const { doc_id } = document ?? (await this.lockedDocument());
      const body = { document_id: doc_id, audience: { member_ids: [admin.userId, owner.userId] } };
      const { id } = await byOwner('/acknowledgement-requests', body);
      const { content_hash } = await must(app, 'GET', `/documents/${doc_id}`, { as: owner.token });
      return { request_id: id, doc_id, content_hash };
    },

    /** Creates a published document with an approver. */
    async lockedDocument(): Promise<{ doc_id: string }> {
      const { doc_id } = await this.published();
      const request = { as: admin.token, body: { approver_ids: [admin.userId] } };
      await must(app, 'PATCH', `/documents/${doc_id}/approvers`, request);
      return { doc_id };
    },

    /** Creates an acknowledgement of the owner. */
    async acknowledgement(): Promise<{ acknowledgement_id: string }> {
      const { doc_id, content_hash } = await this.acknowledgementRequest();
      const { id } = await byOwner('/acknowledgements', { document_id: doc_id, content_hash });
      return { acknowledgement_id: id };
    },

    /** Adds a reader to a request. */
    async reader(document?: {
      doc_id: string;
    }): Promise<{ request_id: string; person_id: string; token: string; content_hash: string }> {
      const { request_id, content_hash } = await this.acknowledgementRequest(document);
      const readers = [{ external_id: 'E 1', name: unique('Reader') }];
      const [{ id, url }] = await byOwner(`/acknowledgement-requests/${request_id}/readers`, { readers });
      return { request_id, person_id: id, token: url.split('/read/')[1], content_hash };
    },

    /** Creates a published document with a share token. */
    async shared(): Promise<{ doc_id: string; org_slug: string; token: string }> {
      const { doc_id } = await this.published();
      const { org_slug, token } = await byOwner(`/documents/${doc_id}/share-token`);
      return { doc_id, org_slug, token };
    },

    /** Creates a public link with a password. */
    async protectedLink(): Promise<{ org_slug: string; token: string; password: string }> {
      const { doc_id, org_slug, token } = await this.shared();
      const password = unique('Password of a link');
      const request = { as: owner.token, body: { password } };
      await must(app, 'PATCH', `/documents/${doc_id}/share-token`, request);
      return { org_slug, token, password };
    },

    async asset(): Promise<{ asset_id: string }> {
      return { asset_id: (await byOwner('/assets', pictureForm())).id };
    },

    /** Creates a public link to a document with a picture. */
    async sharedAsset(): Promise<{ org_slug: string; token: string; asset_id: string }> {
      const { doc_id, asset_id } = await this.publishedPicture();
      const { org_slug, token } = await byOwner(`/documents/${doc_id}/share-token`);
      return { org_slug, token, asset_id };
    },

    /** Creates a personal link to a document with a picture. */
    async assetOfReader(): Promise<{ token: string; asset_id: string }> {
      const { doc_id, asset_id } = await this.publishedPicture();
      const request = { as: admin.token, body: { approver_ids: [admin.userId] } };
      await must(app, 'PATCH', `/documents/${doc_id}/approvers`, request);
      const { token } = await this.reader({ doc_id });
      return { token, asset_id };
    },

    /** Publishes a document with a picture. */
    async publishedPicture(): Promise<{ doc_id: string; asset_id: string }> {
      const { asset_id } = await this.asset();
      const image = { type: 'image', attrs: { src: `asset:${asset_id}` } };
      const nodes = [{ node_type: 'section', title: 'One', content: { type: 'doc', content: [image] } }];
      const { id } = await byOwner('/documents', { title: unique('Document'), nodes });
      await byOwner(`/documents/${id}/publish`);
      return { doc_id: id, asset_id };
    },

    async template(): Promise<{ template_id: string }> {
      return { template_id: (await byOwner('/templates', await templateForm())).id };
    },

    async webhook(): Promise<{ config_id: string }> {
      return { config_id: (await byOwner('/webhooks', webhookForm())).id };
    },

    async apiKey(): Promise<{ key_id: string }> {
      return { key_id: (await byOwner('/api-keys', { name: unique('Key') })).id };
    },

    /** Creates an item in the owner's inbox: an admin publishes the owner's document. */
    /** Makes a change that the audit log of the organization records. Returns the id of the entry. */
    async auditEntry(): Promise<string> {
      const { id } = await byAdmin('/api-keys', { name: unique('Key') });
      return until('the entry in the audit log', async () => {
        const path = '/audit-log?action=api_key.created&limit=10';
        const entries: { id: string; target: { id: string } }[] = await must(app, 'GET', path, {
          as: admin.token,
        });
        return entries.find(({ target }) => target.id === id)?.id;
      });
    },

    async inboxItem(): Promise<{ item_id: string }> {
      const { doc_id } = await draft();
      await byAdmin(`/documents/${doc_id}/publish`);
      const findItem = async () => {
        const items: { id: string; data: { document_id: string } }[] = await must(app, 'GET', '/inbox', {
          as: owner.token,
        });
        return items.find(({ data }) => data.document_id === doc_id)?.id;
      };
      const item_id = await until('the inbox item', findItem);
      // a transaction may begin at a time before the item; it begins after a write that a majority has confirmed
      await byAdmin('/departments', { name: unique('Department') });
      return { item_id };
    },

    async department(): Promise<{ department_id: string }> {
      return { department_id: (await byAdmin('/departments', { name: unique('Department') })).id };
    },

    async invitation(): Promise<{ invitation_id: string; token: string }> {
      const { id, token } = await byAdmin('/members/invitations', { email: uniqueEmail() });
      return { invitation_id: id, token };
    },

    /** Creates a password reset token for a new member. */
    async passwordReset(): Promise<{ token: string }> {
      const { userId } = await addMember(app, admin.token);
      return byAdmin(`/members/${userId}/password-reset`);
    },

    newMember: (): Promise<Member> => addMember(app, admin.token),

    /** Logs the admin in. */
    session(): Promise<TestResponse['body']> {
      const { email, password } = admin;
      return must(app, 'POST', '/auth/login', { body: { email, password } });
    },

    /** Creates a webhook and sends a test delivery, which adds an entry to its log. */
    async testedWebhook(): Promise<{ config_id: string }> {
      const webhook = await this.webhook();
      await byOwner(`/webhooks/${webhook.config_id}/test`);
      return webhook;
    },

    /** Creates a log entry that can be redelivered: a test delivery whose type is changed in the database. */
    async logEntry(): Promise<{ entry_id: string }> {
      const { config_id } = await this.testedWebhook();
      const entries = app.db.collection<{ _id: string }>('webhook_deliveries');
      const found = await entries.findOneAndUpdate(
        { config_id },
        { $set: { event_type: 'document.archived' } },
      );
      if (!found) throw new Error('The test delivery was not logged');
      return { entry_id: found._id };
    },

    /** Ends all listeners: an organization may have only a few. */
    async withoutListeners(): Promise<void> {
      const { organizationId: organization_id } = people.admin;
      await app.db.collection('webhook_listeners').deleteMany({ organization_id });
    },

    /** Starts a listener of the owner. */
    async listener(): Promise<{ listener_id: string }> {
      await this.withoutListeners();
      return { listener_id: (await byOwner('/webhooks/listeners')).id };
    },

    /** Starts a listener and publishes a document. Returns the event. */
    async listenedEvent(): Promise<{ event_id: string }> {
      const { listener_id } = await this.listener();
      await byOwner(`/documents/${(await draft()).doc_id}/publish`);
      return until('the event', async () => {
        const path = `/webhooks/listeners/${listener_id}/events`;
        const [event] = await must(app, 'GET', path, { as: owner.token });
        return event;
      });
    },

    /** Creates a webhook in the organization of the token. `config_id` is undefined if its plan has no webhooks. */
    async webhookOfCaller(token: string | undefined): Promise<{ config_id: string | undefined }> {
      const created = await app.request('POST', '/webhooks', { as: token, body: webhookForm() });
      return { config_id: created.body.id };
    },
  };

  /** Creates a draft of the owner with an editor and one section. */
  async function draft(): Promise<{ doc_id: string; node_id: string }> {
    const tree = [{ node_type: 'section', title: 'One' }];
    const { id, nodes } = await byOwner('/documents', { title: unique('Document'), nodes: tree });
    await assignEditor(id);
    return { doc_id: id, node_id: nodes[0].id };
  }

  async function assignEditor(id: string): Promise<void> {
    const body = { editor_id: editor.userId };
    await must(app, 'PATCH', `/documents/${id}/editor`, { as: owner.token, body });
  }
}
