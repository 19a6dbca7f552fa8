/** Exporting: what a file costs. */
import { readFile } from 'node:fs/promises';
import { httpRow } from '../row.ts';

const sop = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);

/** The sample SOP as a Word file. */
export const word = httpRow({
  name: 'one Word export',
  remark: 'the sample SOP in the default template; floor: a bare request',
  beside: true,
  requests: 16,
  floorRequests: 3000,
  floor: 'nothing',
  same: 'nothing',
  async prepare({ home, api }) {
    const { id } = await api(home, 'POST', '/documents', JSON.parse(await readFile(sop, 'utf8')));
    const path = `/api/v1/documents/${id}/export/word?template_id=default`;
    return async () => () => ({ method: 'GET', path, key: home.key });
  },
});
