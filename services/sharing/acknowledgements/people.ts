/** Adds readers to a request, deletes them, and lists all people whom a request asks. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { body as createBody, id, NotFound, newId, parseCursor, toCursor } from '#libs/contract';
import { handle, type Route, reply, toCsvLine } from '#libs/http';
import type { Actor } from '#libs/store';
import {
  AcknowledgementReaderDeleted,
  AcknowledgementRequestIsClosed,
  addReaders,
  deleteReader,
  listPeople,
  TooManyReaders,
} from '../contract.ts';
import { getStatus, isOpen } from '../rules/acknowledgement.ts';
import type { ReaderRow, RequestRow } from '../store/acknowledgement-collections.ts';
import type { StatusContext } from '../store/acknowledgement-readers.ts';
import { toMemberPerson, toReaderPerson, toRequest } from './presenters.ts';
import { type AcknowledgementDeps, findRequest } from './requests.ts';
import { maxReaders, type Person, type PersonStatus, personKind, type ReaderInput } from './shapes.ts';

/** The dependencies of `peopleHandlers`. */
export interface PeopleDeps extends AcknowledgementDeps {
  /** Returns a new random token. */
  newToken: () => string;
  /** Public URL of the application, without a trailing slash; personal links start with it. */
  appUrl: string;
}

/** Where a list of people begins. Members come before readers. */
type Start = { kind: Person['kind']; id: string } | undefined;

const position = z.tuple([personKind, id]);

/** How many readers are read at a time for CSV. */
const csvBatchSize = 1_000;

/** Handles the operations on readers and the list of people. */
export function peopleHandlers(deps: PeopleDeps): Route[] {
  const { store, requests, readers, now } = deps;
  const toReader = (context: StatusContext) => (row: ReaderRow) =>
    toReaderPerson(row, `${deps.appUrl}/read/${readers.openToken(row)}`, context);

  return [
    handle(
      addReaders,
      async ({ actor, params, body, authorize }) =>
        store.respond(actor, async (within) => {
          const { request, version } = await findRequest(deps, within, params.request_id);
          authorize(version);
          if (!isOpen(request, version)) throw AcknowledgementRequestIsClosed();
          const context = { request, version, now: now() };
          const rows = await findOrAdd(within, request, body.readers, context.now);
          const replayKey = { request_id: request._id };
          return reply(rows.map(toReader(context)), { replayKey });
        }),
      {
        authorizeReplay: async ({ actor, params, authorize }) =>
          authorize((await findRequest(deps, actor, params.request_id)).version),
        async replay({ actor, params, body }) {
          const { request, version } = await findRequest(deps, actor, params.request_id);
          const known = await findKnown(actor, request, body.readers);
          const rows = body.readers.flatMap(({ external_id }) => known.get(external_id) ?? []);
          return rows.map(toReader({ request, version, now: now() }));
        },
      },
    ),

    handle(deleteReader, async ({ actor, params, authorize }) =>
      store.transact(actor, async (tx) => {
        const within = { ...actor, tx };
        const { request, version } = await findRequest(deps, within, params.request_id);
        authorize(version);
        if (!(await readers.delete(within, request._id, params.person_id))) throw NotFound();
        await requests.countReaders(within, request, -1);
        const event = { request: toRequest(request, version), reader_id: params.person_id };
        tx.publish(AcknowledgementReaderDeleted, event);
        return undefined;
      }),
    ),

    handle(listPeople, async ({ actor, params, query, authorize }) => {
      const { request, version } = await findRequest(deps, actor, params.request_id);
      authorize(version);
      const context = { request, version, now: now() };
      if (query.format === 'csv') {
        const lines = toCsv(listBatches(actor, request, context, query.status, undefined, csvBatchSize));
        const headers = { 'Content-Disposition': 'attachment; filename="people.csv"' };
        return reply(createBody('text/csv; charset=utf-8', Readable.from(lines)), { headers });
      }
      const [kind, start] = parseCursor(query.cursor, position) ?? [];
      const from = kind && start !== undefined ? { kind, id: start } : undefined;
      const found: Person[] = [];
      for await (const batch of listBatches(actor, request, context, query.status, from, query.limit + 1)) {
        found.push(...batch);
        if (found.length > query.limit) break;
      }
      const next = found[query.limit];
      const json = JSON.stringify(found.slice(0, query.limit));
      return reply(createBody('application/json', json), { next: next && toCursor([next.kind, next.id]) });
    }),
  ];

  /** The readers of a request, in the order of the input; adds those who are not known yet. */
  async function findOrAdd(
    actor: Actor,
    request: RequestRow,
    inputs: readonly ReaderInput[],
    added_at: Date,
  ): Promise<ReaderRow[]> {
    const known = await findKnown(actor, request, inputs);
    const unknown = inputs.filter(({ external_id }) => !known.has(external_id));
    if (request.reader_count + unknown.length > maxReaders) throw TooManyReaders();
    const created = unknown.map((input) => ({ ...input, _id: newId(), added_at, token: deps.newToken() }));
    // first, so that of two concurrent calls one waits for the other
    if (created.length > 0) await requests.countReaders(actor, request, created.length);
    const added = await readers.add(actor, request, created);
    const rows = new Map([...known.values(), ...added].map((row) => [row.external_id, row]));
    return inputs.flatMap(({ external_id }) => rows.get(external_id) ?? []);
  }

  async function findKnown(
    actor: Actor,
    { _id }: RequestRow,
    inputs: readonly ReaderInput[],
  ): Promise<ReadonlyMap<string, ReaderRow>> {
    const externalIds = inputs.map(({ external_id }) => external_id);
    const found = await readers.findByExternalIds(actor, _id, externalIds);
    return new Map(found.map((row) => [row.external_id, row]));
  }

  /** The people with a status, or all: first the members, then the readers. */
  async function* listBatches(
    actor: Actor,
    { _id, audience }: RequestRow,
    context: StatusContext,
    status: PersonStatus | undefined,
    from: Start,
    batchSize: number,
  ): AsyncGenerator<Person[]> {
    const { request, version } = context;
    if (from?.kind !== 'reader')
      for await (const batch of deps.members.list(actor, { _id, audience }, version, from?.id))
        yield batch
          .filter(({ joined_at: addedAt, acknowledgement }) => {
            const acknowledged = acknowledgement && { baselineId: acknowledgement.baseline_id };
            const state = { addedAt, acknowledged };
            return status === undefined || getStatus(request, version, state, context.now) === status;
          })
          .map((member) => toMemberPerson(member, context));
    let start = from?.kind === 'reader' ? from.id : undefined;
    for (let hasMore = true; hasMore; ) {
      const rows = await readers.list(context, { status, from: start, limit: batchSize + 1 });
      yield rows.slice(0, batchSize).map(toReader(context));
      start = rows[batchSize]?._id;
      hasMore = start !== undefined;
    }
  }
}

const columns = [
  ...(['id', 'kind', 'external_id', 'name', 'url'] as const),
  ...(['status', 'due_at', 'acknowledged_at', 'document_id'] as const),
] satisfies (keyof Person)[];

/** The lines of all people as CSV, a batch at a time. */
async function* toCsv(batches: AsyncIterable<readonly Person[]>): AsyncGenerator<string> {
  yield toCsvLine(columns);
  for await (const batch of batches)
    if (batch.length > 0)
      yield batch.map((person) => toCsvLine(columns.map((name) => person[name]))).join('');
}
