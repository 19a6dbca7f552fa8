/**
 * An ordinary service for comparison: Express, mongoose, zod and JWTs, as many teams would write it. It does the
 * visible work of the measured operations on its own collections: the same fields, and indexes for the same
 * lists, filters and search. It has no events, version checks or locks.
 */
import { createHash } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import jwt from 'jsonwebtoken';
import mongoose, { Schema } from 'mongoose';
import { pino } from 'pino';
import { z } from 'zod';

const { MONGODB_URI = '', PORT = '0', JWT_SECRET = '' } = process.env;
const log = pino();

const documentSchema = new Schema(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    createdBy: { type: String, required: true },
    editorId: { type: String, default: null },
    parentDocId: { type: String, default: null },
    title: { type: String, required: true },
    version: { type: String, default: null },
    department: { type: String, default: null },
    status: { type: String, default: 'draft' },
    publishedAt: { type: Date, default: null },
    archivedAt: { type: Date, default: null },
    contentHash: { type: String, default: null },
    changeSummary: { type: String, default: null },
    minorChange: { type: Boolean, default: false },
    approverIds: { type: [String], default: [] },
    approval: { type: Schema.Types.Mixed, default: null },
    review: { type: Schema.Types.Mixed, default: null },
    token: { type: String, index: { unique: true, sparse: true } },
  },
  { timestamps: true, collection: 'app_documents' },
)
  .index({ organizationId: 1, status: 1, updatedAt: -1 })
  .index({ organizationId: 1, status: 1, createdAt: -1 })
  .index({ organizationId: 1, status: 1, publishedAt: -1 })
  .index({ organizationId: 1, status: 1, title: 1 })
  .index({ organizationId: 1, createdBy: 1, updatedAt: -1 })
  .index({ organizationId: 1, editorId: 1, updatedAt: -1 })
  .index({ organizationId: 1, department: 1, updatedAt: -1 })
  .index({ organizationId: 1, parentDocId: 1, updatedAt: -1 })
  .index({ organizationId: 1, title: 'text' });
const nodeSchema = new Schema(
  {
    _id: { type: String, required: true },
    lineageId: { type: String, required: true },
    organizationId: { type: String, required: true },
    documentId: { type: String, required: true, index: true },
    parentId: { type: String, default: null },
    nodeType: { type: String, required: true },
    title: { type: String, required: true },
    content: { type: Schema.Types.Mixed, default: null },
    /** The words of the content, for the text index. */
    text: { type: String, default: '' },
    order: Number,
  },
  { timestamps: true, collection: 'app_nodes' },
).index({ organizationId: 1, title: 'text', text: 'text' });
const ledgerSchema = new Schema(
  { organizationId: { type: String, index: true }, documentId: String, month: String },
  { collection: 'app_ledger' },
);
const memberSchema = new Schema(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    userId: { type: String, required: true },
    role: { type: String, required: true },
  },
  { collection: 'app_members' },
);
memberSchema.index({ organizationId: 1, userId: 1 }, { unique: true });
const Document = mongoose.model('Document', documentSchema);
const Node = mongoose.model('Node', nodeSchema);
const Ledger = mongoose.model('Ledger', ledgerSchema);
const Member = mongoose.model('Member', memberSchema);

type Node = { _id: string; parentId?: string | null; order?: number | null };

const newDocument = z.object({
  title: z.string().min(1).max(300),
  version: z.string().max(64).optional(),
  department: z.string().max(100).optional(),
});
const newNode = z.object({
  node_type: z.enum(['section', 'step', 'sub_step']),
  title: z.string().min(1).max(300),
  order: z.number(),
  parent_id: z.uuid().nullable(),
});
const page = z.object({ limit: z.coerce.number().int().min(1).max(100).default(50) });

await mongoose.connect(MONGODB_URI, { maxPoolSize: 50 });
await Promise.all([Document, Node, Ledger, Member].map((model) => model.syncIndexes()));

const app = express();
app.use((request, response, next) => {
  const startedAt = performance.now();
  response.on('finish', () => {
    const ms = Math.round(performance.now() - startedAt);
    log.info({ method: request.method, path: request.path, status: response.statusCode, ms }, 'request');
  });
  next();
});
app.use(helmet());
app.use(express.json({ limit: '1mb' }));

app.get('/ready', (_request, response) => void response.json({ ok: true }));

app.get('/embed/:token', async (request, response) => {
  const document = await Document.findOne({ token: request.params.token, status: 'published' }).lean();
  if (!document) return void response.status(404).json({ error: 'not found' });
  response.json({ ...document, nodes: await readTree(document._id) });
});

app.use('/documents', authenticate);

app.get('/documents', async (request, response) => {
  const { limit } = page.parse(request.query);
  const filter = { organizationId: response.locals.organization, status: { $in: ['draft', 'published'] } };
  response.json(await Document.find(filter).sort({ updatedAt: -1 }).limit(limit).lean());
});

app.get('/documents/:id', async (request, response) => {
  const document = await findDocument(request, response).lean();
  if (!document) return void response.status(404).json({ error: 'not found' });
  response.json({ ...document, nodes: await readTree(document._id) });
});

app.post('/documents', async (request, response) => {
  const { organization, user } = response.locals;
  const fields = { _id: crypto.randomUUID(), organizationId: organization, createdBy: user };
  const document = new Document({ ...newDocument.parse(request.body), ...fields });
  await document.save();
  response.status(201).json({ ...document.toObject(), nodes: [] });
});

app.patch('/documents/:id', async (request, response) => {
  const document = await findDocument(request, response);
  if (!document) return void response.status(404).json({ error: 'not found' });
  document.set(newDocument.partial().parse(request.body));
  await document.save();
  response.json({ ...document.toObject(), nodes: await readTree(document._id) });
});

app.post('/documents/:id/nodes', async (request, response) => {
  const { node_type, title, order, parent_id } = newNode.parse(request.body);
  const document = await findDocument(request, response);
  if (!document) return void response.status(404).json({ error: 'not found' });
  if (parent_id && !(await Node.exists({ _id: parent_id, documentId: document._id })))
    return void response.status(400).json({ error: 'unknown parent' });
  const { _id: documentId, organizationId } = document;
  const place = { organizationId, documentId, parentId: parent_id, nodeType: node_type };
  const _id = crypto.randomUUID();
  const node = new Node({ _id, lineageId: _id, ...place, title, order });
  await node.save();
  await Document.updateOne({ _id: document._id }, { updatedAt: new Date() });
  response.status(201).json(node.toObject());
});

app.post('/documents/:id/publish', async (request, response) => {
  const published = await mongoose.connection.transaction(async (session) => {
    const document = await findDocument(request, response).session(session);
    if (document?.status !== 'draft') return undefined;
    const publishedAt = new Date();
    const { organizationId, _id: documentId } = document;
    const entry = { organizationId, documentId, month: publishedAt.toISOString().slice(0, 7) };
    await Ledger.create([entry], { session });
    document.set({ status: 'published', publishedAt, contentHash: await hashContent(document) });
    await document.save({ session });
    return document;
  });
  if (!published) return void response.status(409).json({ error: 'not a draft' });
  response.json({ ...published.toObject(), nodes: await readTree(published._id) });
});

app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
  response.status(error instanceof z.ZodError ? 400 : 500).json({ error: error.message });
});
app.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));

/** The claims of verified tokens, as many services cache them. */
const verified = new Map<string, jwt.JwtPayload>();

async function authenticate(request: Request, response: Response, next: NextFunction): Promise<void> {
  const claims = verifyToken(request.headers.authorization?.slice(7) ?? '');
  // a removed member is rejected at once
  const member =
    claims && (await Member.findOne({ organizationId: claims.org, userId: String(claims.sub) }).lean());
  if (!member) return void response.status(401).json({ error: 'unauthorized' });
  response.locals.organization = member.organizationId;
  response.locals.user = member.userId;
  next();
}

function verifyToken(token: string): jwt.JwtPayload | undefined {
  try {
    const claims = verified.get(token) ?? jwt.verify(token, JWT_SECRET);
    if (typeof claims === 'string') return undefined;
    verified.set(token, claims);
    return claims;
  } catch {
    return undefined;
  }
}

function findDocument(request: Request, response: Response) {
  return Document.findOne({ _id: String(request.params.id), organizationId: response.locals.organization });
}

async function hashContent({ _id, title, version, department }: InstanceType<typeof Document>) {
  const content = { v: 1, title, version, department, nodes: await readTree(_id) };
  return `sha256:${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
}

async function readTree(documentId: string) {
  const nodes = await Node.find({ documentId }, { text: 0 }).lean();
  const byParent = Map.groupBy(nodes, ({ parentId }) => parentId ?? null);
  const listChildren = (parent: string | null): object[] =>
    (byParent.get(parent) ?? [])
      .toSorted((a: Node, b: Node) => (a.order ?? 0) - (b.order ?? 0))
      .map((node) => ({ ...node, children: listChildren(node._id) }));
  return listChildren(null);
}
