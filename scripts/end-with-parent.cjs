/** Loaded before a script (`node --require`): ends this process when the one that started it has died, however it died. */
'use strict';

const parent = Number(process.env.PDS_PARENT_PID) || process.ppid;
delete process.env.PDS_PARENT_PID;

const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  // an orderly stop if the script knows one, but not for long: whoever asked for the work is gone
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 3500).unref();
  process.kill(process.pid, 'SIGTERM');
}, 400);
watch.unref();
