/** Downloads the official MongoDB archive in a separate process, so that a stalled download can be killed. */
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js';

const [folder = '', version = ''] = process.argv.slice(2);

// the parent process has exited or cancelled the download
process.stdin.on('end', () => process.exit(1)).resume();

try {
  const path = await MongoBinary.getPath({ downloadDir: folder, version, checkMD5: true });
  process.stdout.write(`\n${JSON.stringify({ path })}\n`, () => process.exit(0));
} catch (error) {
  // the library's errors have the short reason in `msg`
  const { msg, message } = error as { msg?: string; message: string };
  const reason = (msg ?? message).split('\n')[0];
  process.stdout.write(`\n${JSON.stringify({ reason })}\n`, () => process.exit(1));
}
