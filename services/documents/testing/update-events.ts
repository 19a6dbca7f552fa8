/** Provides the clock and the writes for tests of update events. */
import type { TestResponse } from '#libs/testing';
import { testApp, until } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../testing/services.ts';
import { documents } from '../service.ts';
import type { DocumentRow } from '../store/collections.ts';
import { type TestContext, type TestMember, testContextFor } from './test-context.ts';

/** A test context of identity and documents. Its clock moves only when a test advances it. */
export interface ClockedContext extends TestContext {
  /** Advances the clock and waits until no event is due. */
  advance(ms: number): Promise<void>;
  now(): Date;
  row(id: string): Promise<DocumentRow | null>;
}

/** Starts the services at a time. */
export async function openClockedContext(start = Date.now()): Promise<ClockedContext> {
  let at = start;
  const now = () => new Date(at);
  const context = testContextFor(await testApp({ services: [identity, documents], contracts, now }));
  const rows = context.app.db.collection<DocumentRow>('documents');
  return {
    ...context,
    now,
    async advance(ms) {
      at += ms;
      const isDue = { $lte: now() };
      const due = { $or: [{ update_event_due_at: isDue }, { review_notice_at: isDue }] };
      await until('all due events', async () => (await rows.countDocuments(due)) === 0);
    },
    row: (_id) => rows.findOne({ _id }),
  };
}

type Write = (
  context: TestContext,
  member: TestMember,
  document: { id: string; nodes: { id: string }[] },
) => Promise<TestResponse>;

const node = { node_type: 'section', title: 'New', order: 9 };

/** All writes that change the fields or nodes of a document. The document must have two sections. */
export const contentWrites: Record<string, Write> = {
  'PATCH of the fields': (context, member, { id }) =>
    context.request(member, 'PATCH', id, { department: 'D' }),
  'POST of a node': (context, member, { id }) => context.request(member, 'POST', `${id}/nodes`, node),
  'PATCH of a node': (context, member, { id, nodes }) =>
    context.request(member, 'PATCH', `${id}/nodes/${nodes[0]?.id}`, { title: 'N' }),
  'DELETE of a node': (context, member, { id, nodes }) =>
    context.request(member, 'DELETE', `${id}/nodes/${nodes[1]?.id}`),
  'reorder of nodes': (context, member, { id, nodes }) =>
    context.request(member, 'POST', `${id}/nodes/reorder`, { nodes: [{ node_id: nodes[0]?.id, order: 7 }] }),
  'PUT of the tree': (context, member, { id }) =>
    context.request(member, 'PUT', `${id}/nodes`, { nodes: [node] }),
};
