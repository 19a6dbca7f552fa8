/** Runs the actions of the lifecycle model over HTTP as fast-check commands, and compares the states. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type fc from 'fast-check';
import { newId } from '#libs/contract';
import type { DocumentRow } from '../store/collections.ts';
import { lifecycleClient } from './lifecycle.ts';
import {
  type Action,
  applyAction,
  listHistory,
  type Model,
  type ModelDocument,
  parseAction,
} from './model.ts';
import type { TestContext, TestMember } from './test-context.ts';

/** The documents of one run in a real organization. */
export interface ModelRun {
  /** Sends an action to the next replica. A new document is called `name`. Returns status and code. */
  send(action: Action, name: string): Promise<string>;
  /** Reads the current state of all documents that the run created. */
  observe(): Promise<ObservedState>;
}

/** The state that tests compare: read from the service, or derived from a model. */
interface ObservedState {
  documents: Record<string, unknown>;
  histories: Record<string, string[]>;
  nodes: number;
  published: number;
  used: number;
  events: string[];
}

/**
 * Starts a run with the draft `d0`, whose version is 1, and runs `actions`. It uses the rest of the organization's
 * quota.
 */
export async function startRun(
  replicas: readonly [TestContext, TestContext],
  member: TestMember,
  actions: readonly Action[] = [],
): Promise<{ model: Model; real: ModelRun }> {
  const [{ app, request }] = replicas;
  const lifecycle = lifecycleClient(replicas[0]);
  const getSubscription = async () =>
    (await app.request('GET', '/organization/subscription', { as: member.as })).body;
  const before = await getSubscription();
  let sent = 0;
  const ids = new Map<string, string>();
  const getName = (id?: string) => [...ids].find(([, known]) => known === id)?.[0] ?? 'unknown';

  const real: ModelRun = {
    async send(action, name) {
      const { type, on, version } = parseAction(action);
      const requests: Record<typeof type, [method: string, path: string, body?: unknown]> = {
        create: ['POST', '', { title: name, version }],
        duplicate: ['POST', '/duplicate'],
        version: ['PATCH', '', { version }],
        node: ['POST', '/nodes', { node_type: 'section', title: 'S', order: 0 }],
        publish: ['POST', '/publish'],
        revise: ['POST', '/revise'],
        archive: ['POST', '/archive'],
        restore: ['POST', '/restore'],
        remove: ['DELETE', ''],
        assign: ['PATCH', '/editor', { editor_id: member.id }],
        unassign: ['PATCH', '/editor', { editor_id: null }],
        trigger: ['POST', '/trigger-webhooks', { event_type: 'document.archived' }],
      };
      const [method, path, body] = requests[type];
      const id = on === undefined ? '' : `/${ids.get(on) ?? newId()}`;
      const { app } = replicas[sent % 2 === 0 ? 0 : 1];
      sent += 1;
      const response = await app.request(method, `/documents${id}${path}`, { as: member.as, body });
      const isNew = ['create', 'duplicate', 'revise', 'restore'].includes(type);
      if (isNew && response.status === 201) ids.set(name, response.body.id);
      const code = response.body?.code ?? response.body?.status;
      return code === undefined ? `${response.status}` : `${response.status} ${code}`;
    },

    async observe() {
      const known = [...ids.values()];
      const rows = app.db.collection<DocumentRow>('documents');
      const families = await rows.distinct('family_id', { _id: { $in: known } });
      const family = await rows.find({ family_id: { $in: families } }).toArray();
      const documents: ObservedState['documents'] = {};
      const histories: ObservedState['histories'] = {};
      const observeDocument = async (id: string) => {
        const { status, body } = await request(member, 'GET', id);
        if (status !== 200) {
          documents[getName(id)] = status === 404 ? 'deleted' : status;
          return;
        }
        const row = family.find(({ _id }) => _id === id);
        documents[getName(id)] = {
          family: getName(row?.family_id),
          parent: body.parent_doc_id && getName(body.parent_doc_id),
          status: body.status,
          version: body.version,
          hasEditor: body.editor_id === member.id,
          nodes: body.nodes.length,
          epoch: row?.share_epoch,
          wasPublished: body.published_at !== null,
          wasArchived: body.archived_at !== null,
        };
        histories[getName(id)] = (await lifecycle.history(member, id)).map(getName);
      };
      const [nodes, published, events, { publish_used }] = await Promise.all([
        app.db.collection('nodes').countDocuments({ document_id: { $in: known } }),
        lifecycle.countPublished(...known),
        lifecycle.publishedEvents(...known),
        getSubscription(),
        ...[...new Set([...known, ...family.map(({ _id }) => _id)])].map(observeDocument),
      ]);
      const about = events.map(({ type, data }) => `${type} ${getName(data.document.id)}`).sort();
      return {
        documents,
        histories,
        nodes,
        published,
        used: publish_used - before.publish_used,
        events: about,
      };
    },
  };

  const limit = (before.publish_limit ?? Number.POSITIVE_INFINITY) - before.publish_used;
  const model: Model = { documents: {}, published: 0, limit, events: [] };
  for (const action of ['create 1', ...actions] as const) await toCommand(action).run(model, real);
  return { model, real };
}

/** Derives the expected state from a model. */
export function toExpectedState({ documents, published, events }: Model): ObservedState {
  const all = Object.entries(documents);
  const existing = all.filter(([, { status }]) => status !== 'deleted');
  const toDocument = ({ publishIndex, isEdited: _, ...document }: ModelDocument) => ({
    ...document,
    wasPublished: publishIndex !== null,
    wasArchived: document.status === 'archived',
  });
  return {
    documents: Object.fromEntries(
      all.map(([name, document]) => [name, document.status === 'deleted' ? 'deleted' : toDocument(document)]),
    ),
    histories: Object.fromEntries(existing.map(([name]) => [name, listHistory(documents, name)])),
    nodes: existing.reduce((sum, [, { nodes }]) => sum + nodes, 0),
    published,
    used: published,
    events: [...events].sort(),
  };
}

/**
 * Creates the command that sends these actions concurrently to the replicas in turn. The outcomes, and the state
 * after several actions, must equal those of the actions in some order.
 */
export function toCommand(...actions: [Action, ...Action[]]): fc.AsyncCommand<Model, ModelRun> {
  return {
    check: ({ documents }) => actions.every((action) => (parseAction(action).on ?? 'd0') in documents),
    async run(model, real) {
      const names = Object.keys(model.documents).map((name) => Number(name.slice(1)));
      const unused = Math.max(-1, ...names) + 1;
      const named = actions.map((action, at) => ({ action, name: `d${unused + at}`, at }));
      const outcomes = await Promise.all(named.map(({ action, name }) => real.send(action, name)));
      const actual = { outcomes, ...(actions.length > 1 && (await real.observe())) };
      const orders = applyInEveryOrder(model, named).map((order) => ({
        model: order.model,
        result: { outcomes: order.outcomes, ...(actions.length > 1 && toExpectedState(order.model)) },
      }));
      // a failure prints the difference from one of the orders
      const match = orders.find(({ result }) => isDeepStrictEqual(result, actual)) ?? orders[0];
      expect(actual).toEqual(match?.result);
      Object.assign(model, match?.model);
    },
    toString: () => actions.join(' ∥ '),
  };
}

interface NamedAction {
  action: Action;
  name: string;
  /** The index of the outcome. */
  at: number;
}

/** Returns the outcomes and the resulting model of every order of the actions. */
function applyInEveryOrder(
  model: Model,
  actions: readonly NamedAction[],
  outcomes: readonly string[] = [],
): { outcomes: readonly string[]; model: Model }[] {
  if (actions.length === 0) return [{ outcomes, model }];
  return actions.flatMap((first) => {
    const [outcome, after] = applyAction(model, first.action, first.name);
    const others = actions.filter((action) => action !== first);
    return applyInEveryOrder(after, others, Object.assign([...outcomes], { [first.at]: outcome }));
  });
}
