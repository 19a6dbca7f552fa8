/** Tests which operations the latency objective leaves out. */
import { expect, test } from '@jest/globals';
import { objectives } from '../../scripts/monitoring/objectives.ts';
import { realTime } from '../../scripts/monitoring/time-scale.ts';

test('imports and exports do not count in the latency objective', () => {
  const objective = objectives.find(({ slo }) => slo === 'latency');
  const queries = objective?.createQueries('rate', '5m', realTime);
  const slow = [
    'previewImport',
    'createImport',
    'exportWord',
    'exportMarkdown',
    'exportHtml',
    'exportLibrary',
  ];
  for (const query of [queries?.bad, queries?.all])
    for (const operation of slow) expect(query).toMatch(new RegExp(`operation!~"[^"]*\\b${operation}\\b`));
});
