/** Computes the content hashes of documents: reads one as JSON text per line, writes one hash per line. */
import { text } from 'node:stream/consumers';
import { hashDocument } from './documents.ts';

for (const line of (await text(process.stdin)).trimEnd().split('\n'))
  process.stdout.write(`${await hashDocument(JSON.parse(line))}\n`);
