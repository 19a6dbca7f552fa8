/** A story with all requests about documents, none of which uses an optional capability such as version comparison. */
import {
  addMember,
  must,
  register,
  type TestApp,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { createNormalizer, type Normalize, toRecordedBody } from './normalization.ts';

/** A normalized response. */
export interface RecordedResponse {
  request: string;
  status: number;
  headers: Record<string, string>;
  /** The text of the response; of a Word file, the hash of each part. */
  body: unknown;
}

const recordedHeaders = ['content-type', 'etag', 'location', 'cache-control', 'content-disposition', 'vary'];

const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content });
const text = (words: string, ...marks: unknown[]) => ({
  type: 'text',
  text: words,
  ...(marks[0] ? { marks } : {}),
});
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Rich text with all kinds of blocks. */
const richText = {
  type: 'doc',
  content: [
    paragraph(text('Check the '), text('pressure', { type: 'bold' }), text(' first: 2.5 bar, “±0.1”.')),
    { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph(text('Gauge A'))] }] },
    { type: 'image', attrs: { src: picture, alt: 'The gauge', width: 12.5 } },
    { type: 'callout', attrs: { kind: 'warning' }, content: [paragraph(text('Hot surface'))] },
    {
      type: 'table',
      content: [
        {
          type: 'tableRow',
          content: [
            { type: 'tableHeader', content: [paragraph(text('Lamp'))] },
            { type: 'tableCell', attrs: { colspan: 1 }, content: [paragraph(text('green'))] },
          ],
        },
      ],
    },
  ],
};

const tree = [
  {
    node_type: 'section',
    title: 'Before work',
    content: richText,
    children: [
      {
        node_type: 'step',
        title: 'Look',
        children: [{ node_type: 'sub_step', title: 'Twice', content: richText }],
      },
      { node_type: 'step', title: 'Listen & wait', order: 0.5 },
    ],
  },
  { node_type: 'section', title: 'Afterwards' },
];

/** Runs the story in a new organization and returns its responses, in which only arbitrary values are replaced. */
export async function runStory(app: TestApp): Promise<RecordedResponse[]> {
  const receiver = await webhookReceiver();
  try {
    const ada = await register(app);
    const member = await addMember(app, ada.token);
    const { name } = await must(app, 'GET', '/organization', { as: ada.key });
    const normalize = createNormalizer([name, ada.slug, ada.email, member.email, app.origin, receiver.url]);
    const recorder = createRecorder(app, ada.key, normalize);
    await recorder.send('POST', '/webhooks', {
      ...{ name: 'Hook', url: receiver.url, event_types: ['document.revised'] },
    });
    const { id, link } = await writeAndPublish(recorder, member.userId);
    await reviseAndArchive(recorder, id, link);
    return [...recorder.recorded, await toRecordedDelivery(receiver, normalize)];
  } finally {
    await receiver.close();
  }
}

/** Sends requests and records their responses. */
type Recorder = ReturnType<typeof createRecorder>;

function createRecorder(app: TestApp, key: string, normalize: Normalize) {
  const recorded: RecordedResponse[] = [];
  const send = async (method: string, path: string, body?: unknown) => {
    const as = path.startsWith('/embed/') ? {} : { as: key };
    const response = await app.request(method, path, { ...as, ...(body !== undefined && { body }) });
    const headers = recordedHeaders.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, normalize(value)]];
    });
    recorded.push({
      request: normalize(`${method} ${path}`),
      status: response.status,
      headers: Object.fromEntries(headers),
      body: await toRecordedBody(response, normalize),
    });
    return response.body;
  };
  const readLink = async (link: string) => {
    for (const format of ['json', 'html']) await send('GET', `${link}?format=${format}`);
  };
  return { recorded, send, readLink };
}

/** Creates a document, changes it in every way, publishes and shares it, and changes what is published. */
async function writeAndPublish({ send, readLink }: Recorder, editor_id: string) {
  const draft = await send('POST', '/documents', {
    ...{ title: 'Boiler', version: '1', department: 'Heat', nodes: tree },
  });
  const path = `/documents/${draft.id}`;
  const [section, last] = draft.nodes;
  await send('PATCH', path, { title: 'Boilers', language: 'en-GB' });
  const step = { node_type: 'step', title: 'Close the valve', order: 7, parent_id: last.id };
  const added = await send('POST', `${path}/nodes`, step);
  await send('PATCH', `${path}/nodes/${added.id}`, { content: richText, title: 'Close both valves' });
  await send('POST', `${path}/nodes/reorder`, { nodes: [{ node_id: last.id, order: -1 }] });
  await send('DELETE', `${path}/nodes/${section.children[0].id}`);
  await send('PUT', `${path}/nodes`, { nodes: [...tree, { node_type: 'section', title: 'New' }] });
  await send('PATCH', `${path}/editor`, { editor_id });
  await send('POST', `${path}/publish`);
  await send('POST', `${path}/publish`);
  await send('GET', path);
  await send('POST', `${path}/duplicate`);
  const { org_slug, token } = await send('POST', `${path}/share-token`);
  const link = `/embed/${org_slug}/${token}`;
  await readLink(link);
  await send('PATCH', path, { department: 'Heating' });
  const { nodes } = await send('GET', path);
  await send('PATCH', `${path}/nodes/${nodes[0].id}`, { title: 'Before all work' });
  return { id: draft.id, link };
}

/** Publishes a revision, reads it in every form, and archives it. */
async function reviseAndArchive({ send, readLink }: Recorder, original: string, link: string) {
  const { id, nodes } = await send('POST', `/documents/${original}/revise`);
  const path = `/documents/${id}`;
  await send('PATCH', path, { version: '1' });
  await send('PATCH', path, { version: '2', department: null });
  await send('POST', `${path}/publish`);
  await send('GET', `${path}/history`);
  await send('GET', '/documents?sort=created_at&status=draft&status=published&status=archived');
  await send('GET', '/documents/counts');
  await send('PATCH', `/documents/${original}`, { title: 'Too late' });
  await readLink(link);
  for (const flavor of ['plain', 'gfm']) await send('GET', `${path}/export/markdown?flavor=${flavor}`);
  await send('GET', `${path}/export/word?template_id=default`);
  await send('POST', `${path}/archive`);
  await send('GET', `${link}?format=json`);
  await send('PATCH', `${path}/nodes/${nodes[0].id}`, { title: 'Too late' });
  await send('DELETE', path);
}

async function toRecordedDelivery(
  receiver: WebhookReceiver,
  normalize: Normalize,
): Promise<RecordedResponse> {
  const { body, headers } = await until('the webhook', async () => receiver.received[0]);
  const type = String(headers['content-type']);
  return { request: 'webhook', status: 200, headers: { 'content-type': type }, body: normalize(body) };
}
