/**
 * A program that uses the published client, for Node, Deno and browsers. The tests compile it in a project that has
 * installed the client's package, and compare what it returns.
 */
import {
  createClient,
  type OperationInput,
  ProblemError,
  verifyWebhook,
  type WebhookRequest,
} from 'process-document-service-client';

/** What the program needs. */
export interface StoryInput {
  url: string;
  key: string;
  /** The bytes of a Word template. */
  template: number[];
  /** A URL that accepts webhooks. */
  receiver: string;
  /** A signed request. */
  signed: Omit<WebhookRequest, 'body'> & { body: string };
}

/** A GIF of one pixel. */
const pixel = [
  ...[71, 73, 70, 56, 57, 97, 1, 0, 1, 0, 128, 0, 0, 0, 0, 0, 255, 255, 255, 44, 0, 0, 0, 0, 1, 0, 1, 0, 0],
  ...[2, 2, 68, 1, 0, 59],
];

/** Creates, changes, lists, publishes, shares and exports documents, and uses webhooks. Returns what it saw. */
export async function runStory({ url, key, template, receiver, signed }: StoryInput) {
  const client = createClient({ url, key });
  const body: OperationInput<'createDocument'>['body'] = {
    title: 'Opening the shop',
    version: '1',
    nodes: [{ node_type: 'section', title: 'Morning', children: [{ node_type: 'step', title: 'Unlock' }] }],
  };
  const first = await client.withResponse.createDocument({ body }, { idempotencyKey: 'opening-1' });
  const repeated = await client.withResponse.createDocument({ body }, { idempotencyKey: 'opening-1' });
  const doc_id = first.data.id;
  const ifMatch = first.etag;
  const changed = await client.withResponse.updateDocument({ doc_id, body: { version: '2' } }, { ifMatch });
  const stale = await findProblem(client.updateDocument({ doc_id, body: { version: '3' } }, { ifMatch }));
  const current = await client.withResponse.getDocument({ doc_id }, { ifNoneMatch: changed.etag });
  const invalid = await findProblem(client.createDocument({ body: { title: '' } }));

  for (const title of ['Second', 'Third']) await client.createDocument({ body: { title } });
  const titles: string[] = [];
  for await (const { title } of client.iterate.listDocuments({ limit: 1, sort: 'created_at' }))
    titles.push(title);
  const pageSizes: number[] = [];
  for await (const page of client.pages.listDocuments({ limit: 2 })) pageSizes.push(page.length);

  await client.publishDocument({ doc_id });
  const link = await client.createShareToken({ doc_id });
  await client.updateShareToken({ doc_id, body: { password: 'the vault at noon' } });
  const shared = await client.getEmbeddedDocument(
    { org_slug: link.org_slug, token: link.token },
    { password: 'the vault at noon' },
  );

  const picture = await client.createAsset({ body: { file: new Uint8Array(pixel) } });
  const downloaded = await client.getAsset({ asset_id: picture.id });

  const file = new Uint8Array(template);
  const uploaded = await client.createTemplate({ body: { name: 'Corporate', file, indent_inches: 0.7 } });
  const word = await client.exportWord({ doc_id, template_id: uploaded.id });
  const markdown = await client.exportMarkdown({ doc_id, flavor: 'gfm' });

  const event_types = ['document.published' as const];
  const webhook = await client.createWebhook({ body: { name: 'Hook', url: receiver, event_types } });
  const tested = await client.testWebhook({ config_id: webhook.id });
  const payload = await verifyWebhook(signed);
  const forged = await verifyWebhook({ ...signed, body: `${signed.body} ` }).catch((error) => error.reason);

  return {
    isReplayed: [first.isReplayed, repeated.isReplayed, repeated.data.id === doc_id],
    stale: { status: stale.status, code: stale.code, hasRequestId: stale.requestId !== undefined },
    isCurrent: !current.isModified,
    invalid: { code: invalid.code, errors: invalid.errors },
    titles,
    pageSizes,
    shared: { title: shared.title, version: shared.version, nodes: shared.nodes.map(({ title }) => title) },
    picture: {
      ...{ isNamed: picture.src === `asset:${picture.id}`, type: picture.media_type },
      ...{ start: [...(await downloaded.bytes()).slice(0, 3)], extension: downloaded.name.slice(12) },
    },
    word: { name: word.name, start: [...(await word.bytes()).slice(0, 2)], indent: uploaded.indent_inches },
    markdown: { name: markdown.name, text: await markdown.text() },
    webhook: [tested.status, webhook.secret?.slice(0, 6), payload.event_type, forged],
  };
}

async function findProblem(call: Promise<unknown>): Promise<ProblemError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProblemError) return error;
  throw new Error('The call should have failed with a problem', { cause: error });
}
