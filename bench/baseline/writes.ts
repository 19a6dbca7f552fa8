/**
 * Writes of the baseline: the same rows as the services, in a transaction if several rows belong together.
 */
import { newId } from '#libs/contract';
import { eventConsumers } from './consumers.ts';
import { type Client, type Db, type Handler, type Row, withTransaction } from './handler.ts';
import { type BaselineEvent, createWebhookSender } from './relay.ts';
import { documentText, hashContent, nodeText, summary } from './trees.ts';

/**
 * Creates the handlers that write, by name. `consumerCount` is the number of services that consume the event.
 */
export function writeHandlers(client: Client, db: Db, consumerCount: number) {
  const documents = db.collection<Row>('documents');
  const nodes = db.collection<Row>('nodes');
  const ledger = db.collection<Row>('publish_ledger');
  const terms = db.collection<Row>('subscription_terms');
  const webhooks = db.collection<Row>('webhook_configs');
  const { addEvent, consumeBy, markPublished } = eventConsumers(client, db);
  const sendWebhooks = createWebhookSender(client, db);

  /**
   * Runs after a commit: each service consumes the event once and queries its webhooks, then it is marked as
   * published.
   */
  async function consume(event: BaselineEvent): Promise<void> {
    const subscribed = { organization_id: event.organization_id, is_active: true, event_types: event.type };
    await consumeBy(consumerCount, event, async (session) => {
      await webhooks.find(subscribed, { projection: { _id: 1 }, session }).toArray();
    });
    await markPublished(event);
  }

  /** The same with webhook deliveries, which count as one of the consumers. */
  async function consumeAndSendWebhooks(event: BaselineEvent): Promise<void> {
    await Promise.all([consumeBy(consumerCount - 1, event, async () => undefined), sendWebhooks(event)]);
    await markPublished(event);
  }

  const handlers = {
    /** Writes one row and no event, so it needs no transaction. */
    createDocument: async ({ body, principal: { organization_id, user_id } }) => {
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
        language: null,
        status: 'draft',
        published_at: null,
        archived_at: null,
        approver_ids: [],
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

    /**
     * Updates one row if it still has the version that was read, otherwise retries. It needs no transaction.
     */
    updateDocument: async ({ parts: [, _id = ''], body, principal: { organization_id } }) => {
      for (;;) {
        const before = await documents.findOne({ _id, organization_id });
        if (!before) throw new Error('The document was not found');
        const { row_version } = before;
        const change = { ...body, updated_at: new Date(), row_version: row_version + 1 };
        const found = await documents.updateOne({ _id, organization_id, row_version }, { $set: change });
        if (found.matchedCount === 0) continue;
        const document = { ...before, ...change };
        const rows = await nodes.find({ document_id: _id }).toArray();
        const after = await documents.findOne({ _id, organization_id });
        if (after?.row_version !== document.row_version)
          throw new Error('The document changed during the read');
        const headers = { ETag: `"${document.row_version}"` };
        return { status: 200, text: documentText(document, rows), headers };
      }
    },

    createNode: async ({ parts: [, document_id = ''], body, principal: { organization_id, user_id } }) => {
      const { parent_id, node_type, title, order } = body;
      const { node, row_version } = await withTransaction(client, async (session) => {
        const document = await documents.findOne({ _id: document_id, organization_id }, { session });
        const parent = await nodes.findOne({ _id: parent_id, document_id }, { session });
        if (!document || !parent) throw new Error('The document or the parent node was not found');
        const at = new Date();
        const _id = newId();
        const row = {
          _id,
          lineage_id: _id,
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

    publish: createPublishHandler(consume),

    publishAndSendWebhooks: createPublishHandler(consumeAndSendWebhooks),
  } satisfies Record<string, Handler>;
  return handlers;

  /** Publishes a draft; `then` is what follows its commit. */
  function createPublishHandler(afterCommit: (event: BaselineEvent) => Promise<void>): Handler {
    return async ({ parts: [, _id = ''], principal: { organization_id, user_id } }) => {
      const plan = await terms.findOne({ _id: organization_id });
      if (plan?.publish_limit !== null)
        throw new Error('The baseline supports only plans without a publish limit');
      const event = await withTransaction(client, async (session) => {
        const draft = await documents.findOne({ _id, organization_id }, { session });
        if (draft?.status !== 'draft') throw new Error('The draft was not found');
        const at = new Date();
        const tree = await nodes.find({ document_id: _id }, { session }).toArray();
        const change = {
          content_hash: hashContent(draft, tree),
          status: 'published',
          published_at: at,
          updated_at: at,
          row_version: draft.row_version + 1,
        };
        const month = at.toISOString().slice(0, 7);
        const ledgerRow = { _id: newId(), organization_id, document_id: _id, month, published_at: at };
        await ledger.insertOne(ledgerRow, { session });
        await documents.updateOne({ _id }, { $set: change }, { session });
        const publishedEvent = {
          id: newId(),
          type: 'document.published',
          // like the service: set just before the commit
          occurred_at: new Date(),
          organization_id,
          actor_id: user_id,
          data: { document: summary({ ...draft, ...change }) },
        };
        await addEvent(publishedEvent, session);
        return publishedEvent;
      });
      void afterCommit(event);
      const document = await documents.findOne({ _id, organization_id });
      const rows = await nodes.find({ document_id: _id }).toArray();
      const after = await documents.findOne({ _id, organization_id });
      if (!document || after?.row_version !== document.row_version)
        throw new Error('The document changed during the read');
      const headers = { ETag: `"${document.row_version}"` };
      return { status: 200, text: documentText(document, rows), headers };
    };
  }
}
