/** A stream that keeps what is written to it. */
import { Writable } from 'node:stream';

/** Creates a stream, and a function that returns the text that was written to it. */
export function textCollector(): { stream: Writable; text(): string } {
  let all = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      all += chunk;
      done();
    },
  });
  return { stream, text: () => all };
}
