/** Fetches the official MongoDB archive in a process of its own, so that a download that hangs can simply be ended. */
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js';

const [folder = '', version = ''] = process.argv.slice(2);

// the one who asked has died or has lost patience
process.stdin.on('end', () => process.exit(1)).resume();

try {
  const path = await MongoBinary.getPath({ downloadDir: folder, version, checkMD5: true });
  process.stdout.write(`\n${JSON.stringify({ path })}\n`, () => process.exit(0));
} catch (error) {
  // the library's own error carries the short reason in `msg`
  const { msg, message } = error as { msg?: string; message: string };
  const reason = (msg ?? message).split('\n')[0];
  process.stdout.write(`\n${JSON.stringify({ reason })}\n`, () => process.exit(1));
}
