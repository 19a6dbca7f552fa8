/**
 * Preloaded by Node (`node --require`): ends this process when its parent process has ended for any reason.
 */
'use strict';

const parent = Number(process.env.PDS_PARENT_PID) || process.ppid;
delete process.env.PDS_PARENT_PID;

const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  // allow a graceful shutdown, but only for a short time
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 3500).unref();
  process.kill(process.pid, 'SIGTERM');
}, 400);
watch.unref();
