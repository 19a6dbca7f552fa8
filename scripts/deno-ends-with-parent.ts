/** Loaded by Deno before a service: stops it when the program that started it has died, however it died. */
import process from 'node:process';

const parent = process.ppid;

const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  // whoever asked for the work is gone: an orderly stop, but not for long
  setTimeout(() => process.exit(1), 3500).unref();
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(1);
}, 400);
watch.unref();
