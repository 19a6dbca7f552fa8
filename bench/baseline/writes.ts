/** What the floor writes: the same rows as the services, in a transaction where more than one belongs together. */
import { newId } from '#libs/contract';
import { type Client, type Db, type Handler, type Row, transacted } from './handler.ts';
import { type Said, telling } from './relay.ts';
import { documentText, nodeText, summary } from './trees.ts';

const leaseMs = 10_000;

/** The handlers that write, by name; `hearers` is how many services hear that a document was published. */
export function writing(client: Client, db: Db, hearers: number) {
  const documents = db.collection<Row>('documents');
  const nodes = db.collection<Row>('nodes');
  const ledger = db.collection<Row>('publish_ledger');
  const terms = db.collection<Row>('subscription_terms');
  const webhooks = db.collection<Row>('webhook_configs');
  // of its own, so that no event of the floor is ever heard by the services
  const outbox = db.collection<Row>('floor_outbox');
  const inbox = db.collection<Row>('floor_inbox');
  const tell = telling(client, db);

  /** What follows a commit: each service hears the event once and looks up whom it concerns, then it is marked as published. */
  async function heard(event: Said): Promise<void> {
    const wanted = { organization_id: event.organization_id, is_active: true, event_types: event.type };
    await heardBy(hearers, event, async (session) => {
      await webhooks.find(wanted, { projection: { _id: 1 }, session }).toArray();
    });
    await marked(event);
  }

  /** The same where webhooks are told of it: they are one of those who hear. */
  async function heardAndTold(event: Said): Promise<void> {
    await Promise.all([heardBy(hearers - 1, event, async () => undefined), tell(event)]);
    await marked(event);
  }

  async function heardBy(
    count: number,
    event: Said,
    work: (session: ReturnType<Client['startSession']>) => Promise<void>,
  ): Promise<void> {
    const hear = (hearer: number) =>
      transacted(client, async (session) => {
        await inbox.insertOne({ _id: `${hearer}/${event.id}`, handled_at: new Date() }, { session });
        await work(session);
      });
    await Promise.all(Array.from({ length: count }, (_, hearer) => hear(hearer)));
  }

  async function marked({ id }: Said): Promise<void> {
    const published = {
      $set: { published_at: new Date() },
      $unset: { pending: 1, lease_until: 1, lease_by: 1 },
    };
    await outbox.updateOne({ _id: id }, published);
  }

  const handlers = {
    /** One row and no event: no transaction is needed. */
    createDocument: async ({ body, asker: { organization_id, user_id } }) => {
      const at = new Date();
      const _id = newId();
      const document = {
        _id,
        organization_id,
        family_id: _id,
        created_by: user_id,
        editor_id: null,
        parent_doc_id: null,
        title: body.title,
        version: body.version,
        department: body.department,
        status: 'draft',
        published_at: null,
        archived_at: null,
        created_at: at,
        updated_at: at,
        row_version: 1,
        share_epoch: 0,
        node_count: 0,
        content_bytes: 0,
      };
      await documents.insertOne(document);
      return { status: 201, text: documentText(document, []), headers: { ETag: '"1"' } };
    },

    /** One row and no event again: the update finds the version that was read, or is tried again. */
    updateDocument: async ({ parts: [, _id = ''], body, asker: { organization_id } }) => {
      for (;;) {
        const before = await documents.findOne({ _id, organization_id });
        if (!before) throw new Error('There is no such document');
        const { row_version } = before;
        const change = { ...body, updated_at: new Date(), row_version: row_version + 1 };
        const found = await documents.updateOne({ _id, organization_id, row_version }, { $set: change });
        if (found.matchedCount === 0) continue;
        const document = { ...before, ...change };
        const rows = await nodes.find({ document_id: _id }).toArray();
        const after = await documents.findOne({ _id, organization_id });
        if (after?.row_version !== document.row_version) throw new Error('It changed meanwhile');
        const headers = { ETag: `"${document.row_version}"` };
        return { status: 200, text: documentText(document, rows), headers };
      }
    },

    createNode: async ({ parts: [, document_id = ''], body, asker: { organization_id, user_id } }) => {
      const { parent_id, node_type, title, order } = body;
      const { node, row_version } = await transacted(client, async (session) => {
        const document = await documents.findOne({ _id: document_id, organization_id }, { session });
        const parent = await nodes.findOne({ _id: parent_id, document_id }, { session });
        if (!document || !parent) throw new Error('There is no such place');
        const at = new Date();
        const row = {
          _id: newId(),
          organization_id,
          document_id,
          parent_id,
          node_type,
          title,
          content: null,
          order,
          created_by: user_id,
          created_at: at,
          updated_at: at,
        };
        const change = {
          node_count: document.node_count + 1,
          updated_at: at,
          row_version: document.row_version + 1,
        };
        await nodes.insertOne(row, { session });
        await documents.updateOne({ _id: document_id }, { $set: change }, { session });
        return { node: row, row_version: change.row_version };
      });
      return { status: 201, text: nodeText(node, '[]'), headers: { ETag: `"${row_version}"` } };
    },

    publish: publishing(heard),

    publishAndTell: publishing(heardAndTold),
  } satisfies Record<string, Handler>;
  return handlers;

  /** Publishes a draft; `then` is what follows its commit. */
  function publishing(then: (event: Said) => Promise<void>): Handler {
    return async ({ parts: [, _id = ''], asker: { organization_id, user_id } }) => {
      const plan = await terms.findOne({ _id: organization_id });
      if (plan?.publish_limit !== null) throw new Error('The floor knows plans without a limit only');
      const event = await transacted(client, async (session) => {
        const draft = await documents.findOne({ _id, organization_id }, { session });
        if (draft?.status !== 'draft') throw new Error('There is no such draft');
        const at = new Date();
        const change = {
          status: 'published',
          published_at: at,
          updated_at: at,
          row_version: draft.row_version + 1,
        };
        const month = at.toISOString().slice(0, 7);
        const counted = { _id: newId(), organization_id, document_id: _id, month, published_at: at };
        await ledger.insertOne(counted, { session });
        await documents.updateOne({ _id }, { $set: change }, { session });
        const said = {
          id: newId(),
          type: 'document.published',
          // as ours: last of all before the commit
          occurred_at: new Date(),
          organization_id,
          actor_id: user_id,
          data: { document: summary({ ...draft, ...change }) },
        };
        const row = {
          _id: said.id,
          type: said.type,
          event: JSON.stringify(said),
          created_at: at,
          pending: true,
          lease_until: new Date(at.getTime() + leaseMs),
          lease_by: 'floor',
          failures: 0,
        };
        await outbox.insertOne(row, { session });
        return said;
      });
      void then(event);
      const document = await documents.findOne({ _id, organization_id });
      const rows = await nodes.find({ document_id: _id }).toArray();
      const after = await documents.findOne({ _id, organization_id });
      if (!document || after?.row_version !== document.row_version) throw new Error('It changed meanwhile');
      const headers = { ETag: `"${document.row_version}"` };
      return { status: 200, text: documentText(document, rows), headers };
    };
  }
}
