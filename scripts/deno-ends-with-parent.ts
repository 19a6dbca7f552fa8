/** Preloaded by Deno: stops the service when its parent process has ended for any reason. */
import process from 'node:process';

const parent = process.ppid;

const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  // allow a graceful shutdown, but only for a short time
  setTimeout(() => process.exit(1), 3500).unref();
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(1);
}, 400);
watch.unref();
