/** What tests of update events need: a clock that they move, and the writes that change a document. */
import type { TestResponse } from '#libs/testing';
import { testApp, until } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../identity/service.ts';
import { documents } from '../service.ts';
import type { DocumentRow } from '../store/collections.ts';
import { type TestContext, type TestMember, testContextFor } from './test-context.ts';

/** Identity and documents with a clock that moves only when a test says so. */
export interface ClockedHouse extends TestContext {
  /** Moves the clock, and waits until every event that is due then is written. */
  advance(ms: number): Promise<void>;
  now(): Date;
  row(id: string): Promise<DocumentRow | null>;
}

/** Starts the services. */
export async function openClockedHouse(): Promise<ClockedHouse> {
  let at = Date.now();
  const now = () => new Date(at);
  const home = testContextFor(await testApp({ services: [identity, documents], contracts, now }));
  const rows = home.app.db.collection<DocumentRow>('documents');
  return {
    ...home,
    now,
    async advance(ms) {
      at += ms;
      const due = { update_event_due_at: { $lte: now() } };
      await until('all due events', async () => (await rows.countDocuments(due)) === 0);
    },
    row: (_id) => rows.findOne({ _id }),
  };
}

type Write = (
  home: TestContext,
  who: TestMember,
  document: { id: string; nodes: { id: string }[] },
) => Promise<TestResponse>;

const node = { node_type: 'section', title: 'New', order: 9 };

/** Every write that changes the fields or the nodes of a document with two sections. */
export const contentWrites: Record<string, Write> = {
  'PATCH of the fields': (home, who, { id }) => home.request(who, 'PATCH', id, { department: 'D' }),
  'POST of a node': (home, who, { id }) => home.request(who, 'POST', `${id}/nodes`, node),
  'PATCH of a node': (home, who, { id, nodes }) =>
    home.request(who, 'PATCH', `${id}/nodes/${nodes[0]?.id}`, { title: 'N' }),
  'DELETE of a node': (home, who, { id, nodes }) =>
    home.request(who, 'DELETE', `${id}/nodes/${nodes[1]?.id}`),
  'reorder of nodes': (home, who, { id, nodes }) =>
    home.request(who, 'POST', `${id}/nodes/reorder`, { nodes: [{ node_id: nodes[0]?.id, order: 7 }] }),
  'PUT of the tree': (home, who, { id }) => home.request(who, 'PUT', `${id}/nodes`, { nodes: [node] }),
};
