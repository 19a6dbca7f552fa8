/** The row for the comparison of two versions. */
import { createDocument, must } from '#libs/testing';
import { pairedRow } from '../paired.ts';
import { coldReads } from './reading.ts';
import { bigDocument } from './trees.ts';

/** The number of changed nodes. */
const changes = 10;
/** As many documents as a slice has requests, so that none is read from the cache. */
const coldTreeCount = 40;

/** The service compares in about the time of reading both versions. The goal is twice that. */
export const compareVersions = pairedRow({
  name: 'compare two 200-node versions, 10 changes vs. read one of them',
  goal: 4,
  pairedWith: 'for a tree of 200 nodes, cold; a comparison reads two',
  async prepare(fixture) {
    const { api, organization } = fixture;
    const { key } = organization;
    const send = (method: string, path: string, body?: unknown) =>
      must(api, method, `/documents/${path}`, { as: key, body });
    const { id } = await createDocument(api, key, bigDocument);
    await send('POST', `${id}/publish`);
    const draft = await send('POST', `${id}/revise`);
    const steps = draft.nodes.flatMap(({ children }: { children: { id: string }[] }) => children);
    const text = { type: 'text', text: 'Before anything else, say on the channel what you are going to do.' };
    const content = { type: 'doc', content: [{ type: 'paragraph', content: [text] }] };
    for (const { id: node } of steps.slice(0, changes))
      await send('PATCH', `${draft.id}/nodes/${node}`, { content });
    const readCold = coldReads(fixture, await fixture.copyDocument(id, coldTreeCount));
    return [() => () => ({ method: 'GET', path: `/api/v1/documents/${draft.id}/diff`, key }), readCold];
  },
});
