/** Data of the app: the same documents as the service has, as an ordinary service stores them. */
import { newId } from '#libs/contract';
import { toPlainText } from '#libs/rich-text';
import type { Db, Row } from '../baseline/handler.ts';
import { appOrganization, appUser } from './sides.ts';

const perInsert = 5_000;

/** Inserts the only member, and documents without nodes. */
export async function fillApp(db: Db, count: number): Promise<void> {
  const member = { _id: newId(), organizationId: appOrganization, userId: appUser, role: 'admin' };
  await db.collection<Row>('app_members').insertOne(member);
  const documents = Array.from({ length: count }, () => createDocument({ title: 'One of many' }));
  for (let at = 0; at < count; at += perInsert)
    await db.collection<Row>('app_documents').insertMany(documents.slice(at, at + perInsert));
}

/** Copies a document of the service with its nodes to the app, `count` times. Returns the ids of the copies. */
export async function copyToApp(
  db: Db,
  id: string,
  count: number,
  { status = 'draft', withTokens = false }: { status?: string; withTokens?: boolean },
): Promise<string[]> {
  const document = await db.collection<Row>('documents').findOne({ _id: id });
  const nodes = await db.collection<Row>('nodes').find({ document_id: id }).toArray();
  if (!document) throw new Error('The document to copy was not found');
  const { title, version, department } = document;
  const fields = { title, version, department, status };
  const copies = Array.from({ length: count }, () => {
    const copy = createDocument(fields);
    return withTokens ? { ...copy, token: `token-${copy._id}` } : copy;
  });
  await db.collection<Row>('app_documents').insertMany(copies);
  const rows = copies.flatMap(({ _id: documentId }) => copyNodes(nodes, documentId));
  for (let at = 0; at < rows.length; at += perInsert)
    await db.collection<Row>('app_nodes').insertMany(rows.slice(at, at + perInsert));
  return copies.map(({ _id }) => _id);
}

function createDocument(fields: object): Row {
  const at = new Date();
  return {
    _id: newId(),
    organizationId: appOrganization,
    createdBy: appUser,
    editorId: null,
    parentDocId: null,
    version: null,
    department: null,
    status: 'draft',
    publishedAt: null,
    archivedAt: null,
    contentHash: null,
    changeSummary: null,
    minorChange: false,
    approverIds: [],
    approval: null,
    review: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  };
}

function copyNodes(nodes: readonly Row[], documentId: string): Row[] {
  const ids = new Map(nodes.map(({ _id }) => [_id, newId()]));
  return nodes.map(({ _id, parent_id, node_type, title, content, order, created_at, updated_at }) => ({
    _id: ids.get(_id) ?? newId(),
    lineageId: ids.get(_id),
    organizationId: appOrganization,
    documentId,
    parentId: ids.get(parent_id) ?? null,
    nodeType: node_type,
    title,
    content: content === null ? null : JSON.parse(content),
    text: content === null ? '' : toPlainText(JSON.parse(content)),
    order,
    createdAt: created_at,
    updatedAt: updated_at,
  }));
}
