/** Traces reach an OTLP endpoint, continue the caller's, and cost nothing when there is none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startTracing } from './tracing.ts';

const caller = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

// in a process of its own: the OpenTelemetry API is set up once for a whole process
const traced = `
import { startTracing } from './libs/service/tracing.ts';
const tracing = await startTracing(process.argv[1], 'documents');
const trace = await tracing.span('publishDocument', ${JSON.stringify(caller)}, async () => tracing.current());
await tracing.stop();
process.stdout.write(String(trace));
`;

test('a span goes to the endpoint under its operation’s name, in the caller’s trace', async () => {
  const bodies: string[] = [];
  const collector = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      bodies.push(`${request.url} ${text}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const root = new URL('../..', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--input-type=module', '-e', traced, `http://127.0.0.1:${port}`], {
    cwd: root,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
  await once(child, 'exit');
  collector.closeAllConnections();
  collector.close();
  expect(printed).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  const [sent = ''] = bodies;
  expect(sent).toMatch(/^\/v1\/traces /);
  expect(sent).toContain('"name":"publishDocument"');
  expect(sent).toContain('"traceId":"0af7651916cd43dd8448eb211c80319c"');
  expect(sent).toContain('documents');
}, 20_000);

test('without an endpoint work just runs, in no trace', async () => {
  const tracing = await startTracing(undefined, 'documents');
  expect(await tracing.span('x', caller, async () => tracing.current() ?? 'none')).toBe('none');
  await tracing.stop();
});
