/** The OpenAPI reference for fuzzing: the served one, in which ids of existing resources are possible values. */
import { readFile } from 'node:fs/promises';
import {
  createDocument,
  createWebhook,
  type HttpClient,
  must,
  type Person,
  shareDocument,
} from '#libs/testing';

type Schema = Record<string, unknown>;

interface Reference {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string; schema: Schema }[] }>>;
}

const template = new URL('../../fixtures/corporate-template.docx', import.meta.url);

/**
 * Reads the reference from the service. Without known ids, nearly every generated request would end with 404, so the
 * parameters with the name of an id may also have the id of an existing resource. A long poll takes at most a second.
 */
export async function createReference(api: HttpClient, admin: Person, memberId: string): Promise<Reference> {
  const { body } = await api.request('GET', '/openapi.json');
  const known = await createResources(api, admin, memberId);
  // the reference has the shape that the contracts generate
  const reference: Reference = body;
  for (const operations of Object.values(reference.paths))
    for (const { parameters = [] } of Object.values(operations))
      for (const parameter of parameters) {
        const values = known[parameter.name];
        if (values) parameter.schema = { anyOf: [{ type: 'string', enum: values }, parameter.schema] };
        // without events, a long poll takes all of its time
        if (parameter.name === 'wait_seconds') parameter.schema = { ...parameter.schema, maximum: 1 };
      }
  return reference;
}

/** Creates resources of every kind. Returns their ids by the names of parameters. */
async function createResources(
  api: HttpClient,
  { key: as, userId }: Person,
  memberId: string,
): Promise<Record<string, string[]>> {
  const post = (path: string, body?: unknown) => must(api, 'POST', path, { as, body });
  const step = { node_type: 'step', title: 'Count the cash' };
  const nodes = [{ node_type: 'section', title: 'Evening', children: [step] }];
  const drafts = [];
  for (let count = 0; count < 5; count += 1)
    drafts.push(await createDocument(api, as, { title: `Draft ${count}`, nodes }));
  const shared = await shareDocument(api, as, { title: 'Shared', nodes });
  const archived = await shareDocument(api, as, { title: 'Archived', nodes });
  await post(`/documents/${archived.id}/archive`);
  const form = new FormData();
  form.append('name', 'Corporate');
  form.append('file', new Blob([new Uint8Array(await readFile(template))]), 'template.docx');
  const uploaded = await post('/templates', form);
  const webhook = await createWebhook(api, as, 'https://hooks.example.com/hook');
  const documents = [...drafts, shared, archived].map(({ id }) => id);
  return {
    doc_id: documents,
    parent_doc_id: documents,
    node_id: drafts.flatMap(({ nodes: [section] }) => [section.id, section.children[0].id]),
    template_id: ['default', uploaded.id],
    config_id: [webhook.id],
    department_id: [(await post('/departments', { name: 'Kitchen' })).id],
    invitation_id: [(await post('/members/invitations', { email: 'guest@example.com' })).id],
    key_id: [(await post('/api-keys', { name: 'For the fuzzer' })).id],
    member_id: [memberId],
    editor_id: [memberId, userId],
    created_by: [userId],
    org_slug: [shared.slug],
    token: [shared.token],
    file: ['start.js'],
  };
}
