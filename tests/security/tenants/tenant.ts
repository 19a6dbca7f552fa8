/** An organization with sample requests for every operation, and with an id of every kind of resource. */
import { addMember, register, type TestApp } from '#libs/testing';
import { type PermissionFixture, permissionFixture } from '../../permissions/fixture.ts';
import type { People } from '../../permissions/people.ts';
import { isOfOwner, type RowName, type Sample, samples } from '../../permissions/samples.ts';

/** An organization. */
export interface Tenant {
  people: People;
  /** Creates a sample request with its own resources. */
  sample(operationId: string): Promise<Sample>;
  /** The token of a person who may send these sample requests. */
  getToken(operationId: string): string;
  /** An id of a resource, by the name of a parameter or field that holds it. */
  getId(field: string): Promise<string>;
}

/** Registers an organization with an admin, an owner and an editor of its resources. */
export async function createTenant(app: TestApp): Promise<Tenant> {
  const admin = await register(app);
  const [owner, editor, member] = await Promise.all([
    addMember(app, admin.token),
    addMember(app, admin.token),
    addMember(app, admin.token),
  ]);
  // the samples use the members only
  const people: People = { admin, owner, editor, member, credentials: [] };
  const fixture = permissionFixture(app, people);
  return {
    people,
    // a preparation may be synchronous
    sample: async (operationId) => samples[toRowName(operationId)](fixture),
    getToken: (operationId) => (isOfOwner(operationId) ? owner.token : admin.token),
    async getId(field) {
      const create = creators[field];
      if (!create) throw new Error(`There is no resource for ${field}: add it to the creators`);
      return create(fixture);
    },
  };
}

/** Creates a resource and returns its id, by the name of the parameter or field. */
const creators: Readonly<Record<string, (fixture: PermissionFixture) => Promise<string>>> = {
  doc_id: async (fixture) => (await fixture.shared()).doc_id,
  parent_doc_id: async (fixture) => (await fixture.published()).doc_id,
  document_id: async (fixture) => (await fixture.published()).doc_id,
  against: async (fixture) => (await fixture.published()).doc_id,
  node_id: async (fixture) => (await fixture.draft()).node_id,
  parent_id: async (fixture) => (await fixture.draft()).node_id,
  approval_id: async (fixture) => (await fixture.approval()).approval_id,
  request_id: async (fixture) => (await fixture.acknowledgementRequest()).request_id,
  person_id: async (fixture) => (await fixture.reader()).person_id,
  member_ids: async ({ people }) => people.member.userId,
  approver_ids: async ({ people }) => people.member.userId,
  asset_id: async (fixture) => (await fixture.asset()).asset_id,
  template_id: async (fixture) => (await fixture.template()).template_id,
  config_id: async (fixture) => (await fixture.testedWebhook()).config_id,
  entry_id: async (fixture) => (await fixture.logEntry()).entry_id,
  listener_id: async (fixture) => (await fixture.listener()).listener_id,
  event_ids: async (fixture) => (await fixture.listenedEvent()).event_id,
  key_id: async (fixture) => (await fixture.apiKey()).key_id,
  item_id: async (fixture) => (await fixture.inboxItem()).item_id,
  department_id: async (fixture) => (await fixture.department()).department_id,
  invitation_id: async (fixture) => (await fixture.invitation()).invitation_id,
  member_id: async ({ people }) => people.member.userId,
  reviewer_id: async ({ people }) => people.editor.userId,
  editor_id: async ({ people }) => people.editor.userId,
  actor_id: async ({ people }) => people.owner.userId,
  created_by: async ({ people }) => people.owner.userId,
};

function toRowName(operationId: string): RowName {
  if (!Object.hasOwn(samples, operationId)) throw new Error(`There is no sample for ${operationId}`);
  // checked above
  return operationId as RowName;
}
