/** A webhook receiver over HTTPS. It prints each request as one line of JSON. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const read = (name) => readFileSync(`/certificates/${name}`);

const server = createServer(
  { key: read('receiver.key'), cert: read('receiver.pem') },
  async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks).toString('utf8');
    process.stdout.write(`${JSON.stringify({ headers: request.headers, body })}\n`);
    response.end();
  },
);
server.listen(8443);
process.on('SIGTERM', () => server.close(() => process.exit(0)));
