/** The things of the permission matrix: each made anew through the API, by the owner unless only an admin can. */
import { readFile } from 'node:fs/promises';
import { type TestApp, type TestResponse, until } from '#libs/testing';
import { type Joined, join, must, type People, unique, uniqueEmail } from './people.ts';

const corporateTemplate = new URL('../fixtures/corporate-template.docx', import.meta.url);

/** A template upload. */
export async function templateForm(): Promise<FormData> {
  const form = new FormData();
  form.append('name', unique('Template'));
  form.append('file', new Blob([new Uint8Array(await readFile(corporateTemplate))]), 'template.docx');
  return form;
}

/** A webhook to be registered. Nobody listens there, and no document of the matrix's set-up is ever archived. */
export function webhookForm() {
  return { name: unique('Hook'), url: 'http://127.0.0.1:9/hook', event_types: ['document.archived'] };
}

/** The makers of things, and the people whose things they are. */
export type PermissionFixture = ReturnType<typeof permissionFixture>;

/** Makers of things for these people. */
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

    /** A published document with its link. */
    async shared(): Promise<{ doc_id: string; org_slug: string; token: string }> {
      const { doc_id } = await this.published();
      const { org_slug, token } = await byOwner(`/documents/${doc_id}/share-token`);
      return { doc_id, org_slug, token };
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

    /** An item of the owner's inbox: an admin published the owner's document. */
    async inboxItem(): Promise<{ item_id: string }> {
      const { doc_id } = await draft();
      await byAdmin(`/documents/${doc_id}/publish`);
      const findItem = async () => {
        const items: { id: string; data: { document_id: string } }[] = await must(app, 'GET', '/inbox', {
          as: owner.token,
        });
        return items.find(({ data }) => data.document_id === doc_id)?.id;
      };
      const item_id = await until('the owner hears of it', findItem, 30_000);
      return { item_id };
    },

    async department(): Promise<{ department_id: string }> {
      return { department_id: (await byAdmin('/departments', { name: unique('Department') })).id };
    },

    async invitation(): Promise<{ invitation_id: string; token: string }> {
      const { id, token } = await byAdmin('/members/invitations', { email: uniqueEmail() });
      return { invitation_id: id, token };
    },

    /** A token to set a new password with, for a member of its own. */
    async passwordReset(): Promise<{ token: string }> {
      const { userId } = await join(app, admin, 'member');
      return byAdmin(`/members/${userId}/password-reset`);
    },

    newMember: (): Promise<Joined> => join(app, admin, 'member'),

    /** A session of the admin. */
    session(): Promise<TestResponse['body']> {
      const { email, password } = admin;
      return must(app, 'POST', '/auth/login', { body: { email, password } });
    },

    /** A webhook with an entry in the log. */
    async logged(): Promise<{ config_id: string }> {
      const webhook = await this.webhook();
      await byOwner(`/webhooks/${webhook.config_id}/test`);
      return webhook;
    },

    /** An entry of the log that may be sent again: a test that is made look like an event. */
    async entry(): Promise<{ entry_id: string }> {
      const { config_id } = await this.logged();
      const entries = app.db.collection<{ _id: string }>('webhook_deliveries');
      const found = await entries.findOneAndUpdate(
        { config_id },
        { $set: { event_type: 'document.archived' } },
      );
      if (!found) throw new Error('The test was not logged');
      return { entry_id: found._id };
    },

    /** The webhook of somebody in another organization; nothing where the plan has none. */
    async foreignWebhook(token: string | undefined): Promise<{ config_id: string | undefined }> {
      const created = await app.request('POST', '/webhooks', { as: token, body: webhookForm() });
      return { config_id: created.body.id };
    },
  };

  /** A draft of the owner with an editor and one section. */
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
