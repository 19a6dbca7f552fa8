/** The commands on requests for acknowledgement. */
import type { AcknowledgementRequest, Person } from '../generated/contract.ts';
import { command } from './command.ts';
import { formatTable } from './context.ts';
import { CommandError, UsageError } from './exit-codes.ts';
import { saveDownload } from './files.ts';
import { asPerson, personOptions } from './login.ts';

const request = { name: 'request', description: 'Id of the request for acknowledgement' } as const;

const ask = command({
  name: 'acknowledgements ask',
  summary: 'Ask people to read and acknowledge a document',
  details: 'Prints the id of the request. Without options it asks no member: add readers without an account.',
  arguments: [{ name: 'id', description: 'Id of the published document' }],
  options: {
    everyone: { type: 'boolean', description: 'Ask all members' },
    department: {
      ...{ type: 'string', value: 'NAME', isRepeated: true },
      description: 'Ask the members of this department',
    },
    member: { type: 'string', value: 'ID', isRepeated: true, description: 'Ask this member' },
    statement: { type: 'string', value: 'TEXT', description: 'What people confirm' },
    days: { type: 'integer', description: 'Days until a person is overdue. Default: 14' },
  },
  async run(context, { arguments: { id: document_id }, options }) {
    const { everyone, department: departments, member: member_ids, statement, days } = options;
    const body = {
      ...{ document_id, audience: { everyone, departments, member_ids }, due_days: days ?? 14 },
      ...(statement !== undefined && { statement }),
    };
    const created = await (await context.client()).requestAcknowledgement({ body });
    context.show(created, () => created.id);
    return undefined;
  },
});

const list = command({
  name: 'acknowledgements list',
  summary: 'List requests for acknowledgement, newest first',
  options: {
    status: { type: 'string', choices: ['open', 'closed'], description: 'Only requests with this status' },
    document: { type: 'string', value: 'ID', description: 'Only requests about this document' },
    mine: { type: 'boolean', description: 'Only requests that await your acknowledgement' },
    limit: { type: 'integer', description: 'How many at most. Default: 20' },
  },
  async run(context, { options: { status, document, mine, limit = 20 } }) {
    if (limit < 1) throw new UsageError('--limit must be 1 or more.');
    const input = {
      ...(status !== undefined && { status }),
      ...(document !== undefined && { document_id: document }),
      ...(mine && { awaiting: 'me' as const }),
      limit: Math.min(limit, 100),
    };
    const requests: AcknowledgementRequest[] = [];
    for await (const one of (await context.client()).iterate.listAcknowledgementRequests(input)) {
      requests.push(one);
      if (requests.length >= limit) break;
    }
    context.show(requests, () =>
      formatTable(
        ['ID', 'STATUS', 'CREATED', 'DUE DAYS', 'DOCUMENT'],
        requests.map((one) => [
          ...[one.id, one.status, one.created_at.slice(0, 16)],
          ...[String(one.due_days), one.document_id],
        ]),
      ),
    );
    return undefined;
  },
});

const show = command({
  name: 'acknowledgements show',
  summary: 'Show how many people have acknowledged',
  arguments: [request],
  async run(context, { arguments: { request: request_id } }) {
    const found = await (await context.client()).getAcknowledgementRequest({ request_id });
    const { people, acknowledged, pending, overdue } = found.totals;
    context.show(
      found,
      () =>
        `${found.status}: ${acknowledged} of ${people} have acknowledged, ${pending} are pending, ${overdue} overdue.`,
    );
    return undefined;
  },
});

const people = command({
  name: 'acknowledgements people',
  summary: 'List the people whom a request asks',
  arguments: [request],
  options: {
    status: {
      ...{ type: 'string', choices: ['pending', 'overdue', 'acknowledged'] as const },
      description: 'Only people with this status',
    },
    format: {
      ...{ type: 'string', choices: ['table', 'csv'] as const },
      description: 'How to list them; csv writes a file. Default: table',
    },
    output: {
      ...{ type: 'string', value: 'FILE', completes: 'files' },
      description: 'Where to write the CSV; - is stdout. Default: people.csv',
    },
  },
  async run(context, { arguments: { request: request_id }, options: { status, format, output } }) {
    const input = { request_id, ...(status !== undefined && { status }) };
    if (format === 'csv') {
      if (context.isJson && output === '-')
        throw new UsageError('--json and --output - both write to stdout.');
      const file = await (await context.client()).listPeople({ ...input, format });
      const path = await saveDownload(context, file, output);
      if (path !== undefined) context.show({ file: path }, () => path);
      return undefined;
    }
    if (output !== undefined) throw new UsageError('--output needs --format csv.');
    const found: Person[] = [];
    for await (const person of (await context.client()).iterate.listPeople(input)) {
      found.push(person);
      context.progress(`${found.length} people`);
    }
    context.show(found, () =>
      formatTable(
        ['STATUS', 'DUE', 'ACKNOWLEDGED', 'KEY', 'NAME'],
        found.map((one) => [
          ...[one.status, one.due_at.slice(0, 10), one.acknowledged_at?.slice(0, 16) ?? ''],
          ...[one.external_id ?? one.id, one.name],
        ]),
      ),
    );
    return undefined;
  },
});

const add = command({
  name: 'acknowledgements add',
  summary: 'Ask a person without an account',
  details: 'Prints the personal link, which you send to the person. A known KEY gets the same link again.',
  arguments: [
    request,
    { name: 'key', description: 'Your own key of the person' },
    { name: 'name', description: 'The name of the person' },
  ],
  async run(context, { arguments: { request: request_id, key: external_id, name } }) {
    const body = { readers: [{ external_id, name }] };
    const [reader] = await (await context.client()).addReaders({ request_id, body });
    context.show(reader, () => reader?.url ?? '');
    return undefined;
  },
});

const close = command({
  name: 'acknowledgements close',
  summary: 'Close a request; its personal links stop working',
  arguments: [request],
  async run(context, { arguments: { request: request_id } }) {
    const closed = await (await context.client()).closeAcknowledgementRequest({ request_id });
    context.show(closed, () => 'Closed. The acknowledgements are kept.');
    return undefined;
  },
});

const confirm = command({
  name: 'acknowledgements confirm',
  summary: 'Acknowledge a document that you have read',
  details: `An API key cannot acknowledge: asks for your password, or reads it from stdin, and logs in for this command only.
Without --email, PDS_KEY must be an access token.`,
  arguments: [{ name: 'id', description: 'Id of the published document' }],
  options: personOptions,
  async run(context, { arguments: { id: document_id }, options }) {
    const made = await asPerson(context, options, async (client) => {
      const { content_hash } = await client.getDocument({ doc_id: document_id });
      if (content_hash === null)
        throw new CommandError(
          'The document is a draft, or was changed after its publication. Publish it, or a revision.',
        );
      return client.createAcknowledgement({ body: { document_id, content_hash } });
    });
    context.show(made, () => `Acknowledged: ${made.statement}`);
    return undefined;
  },
});

/** The commands on requests for acknowledgement. */
export const acknowledgementCommands = [ask, list, show, people, add, close, confirm];
