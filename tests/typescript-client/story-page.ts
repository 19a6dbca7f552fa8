/** Serves the program to a browser, with the client's modules as they are, and the API at the same origin. */
import { readFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { extname, join } from 'node:path';

/** Creates the server. `/client/` has the modules, `/api/` and `/embed/` are those of the service. */
export function createStoryServer({
  modules,
  story,
  api,
}: {
  modules: string;
  story: string;
  api: string;
}): Server {
  const map = JSON.stringify({ imports: { 'process-document-service-client': '/client/mod.js' } });
  const page = `<!doctype html><title>Story</title><script type="importmap">${map}</script>`;
  const types: Record<string, string> = { '.js': 'text/javascript', '.html': 'text/html' };
  return createServer((incoming, outgoing) => {
    const { url = '/', method, headers } = incoming;
    if (/^\/(api|embed)\//.test(url)) {
      // without a connection of its own, each request has the headers of the browser
      const forwarded = request(
        api + url,
        { method, headers: { ...headers, connection: 'close' } },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        },
      );
      forwarded.on('error', () => outgoing.destroy());
      incoming.pipe(forwarded);
      return;
    }
    const path = url.startsWith('/client/') ? join(modules, url.slice('/client/'.length)) : story;
    const content = url === '/' ? Promise.resolve(page) : readFile(path);
    const type = url === '/' ? '.html' : extname(url);
    content.then(
      (text) =>
        outgoing.writeHead(200, { 'content-type': types[type] ?? 'application/octet-stream' }).end(text),
      () => outgoing.writeHead(404).end(),
    );
  });
}
