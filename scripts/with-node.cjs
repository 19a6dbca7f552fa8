/**
 * Runs a script of this project on any machine: installs missing dependencies, then starts the right Node.
 * `node scripts/with-node.cjs <script.ts> [args…]` or `node scripts/with-node.cjs --bin <tool> [args…]`.
 * It uses old JavaScript without dependencies, because it must run on any Node from version 12.
 */
'use strict';

// biome-ignore-start lint/style/useNodejsImportProtocol: Node 12 does not know the protocol
const { spawn, spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
// biome-ignore-end lint/style/useNodejsImportProtocol: see above
const { installIfNeeded } = require('./install.cjs');
const memoryLimits = require('./memory-limits.json');

const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
const minVersion = [22, 22];
/** The program of `npm start`, which runs all services in one process. */
const localRun = 'tools/local-run/main.ts';

main().catch((error) => {
  console.error(error.isUserError ? error.message : error.stack);
  process.exit(1);
});

async function main() {
  const args = process.argv.slice(2);
  if (args.length === 0) throw userError('Usage: node scripts/with-node.cjs <script.ts> [args…]');
  const parents = getAncestors();
  await installIfNeeded(root, (child) => endWith(parents, child));
  const node = pickNode();
  const isTool = args[0] === '--bin';
  const script = isTool ? getToolPath(args[1]) : path.resolve(args[0]);
  const guard = isTool ? [] : ['--require', path.join(__dirname, 'end-with-parent.cjs')];
  // without limits, V8 lets the heap grow with the machine, and malloc keeps free memory
  const limits = args[0] === localRun ? memoryLimits : { flags: [], environment: {} };
  const flags = ['--disable-warning=ExperimentalWarning'].concat(limits.flags, guard);
  const env = Object.assign({ NODE_COMPILE_CACHE: compileCache() }, limits.environment, process.env, {
    PATH: path.join(modules, '.bin') + path.delimiter + process.env.PATH,
  });
  if (!isTool) env.PDS_PARENT_PID = String(process.pid);
  // The child gets its own session, because Ctrl-C reaches the whole foreground group and npm forwards it a
  // second time. This process then forwards each signal once.
  const child = spawn(node, flags.concat(script, args.slice(isTool ? 2 : 1)), {
    stdio: 'inherit',
    detached: true,
    env,
  });
  forwardSignals(child);
  endWith(parents, child);
  child.on('error', (error) => {
    console.error(`Cannot start ${node}: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

/** Returns the Node in node_modules, else the Node that runs this script if it is new enough. */
function pickNode() {
  const installed = path.join(modules, '.bin', 'node');
  if (runs(installed)) return installed;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return process.execPath;
  throw userError(
    `Node ${minVersion.join('.')} or newer is required, but this is Node ${process.versions.node}. Install a newer version (https://nodejs.org), then run this again.`,
  );
}

function runs(file) {
  return fs.existsSync(file) && spawnSync(file, ['--version']).status === 0;
}

function getToolPath(name) {
  const link = path.join(modules, '.bin', String(name));
  if (!fs.existsSync(link)) throw userError(`node_modules/.bin has no tool ${name}.`);
  return fs.realpathSync(link);
}

/** Forwards each signal once. A second one within a second is the same Ctrl-C, forwarded by npm. */
function forwardSignals(child) {
  const last = {};
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (Date.now() - (last[name] || 0) < 1000) return;
      last[name] = Date.now();
      child.isSignaled = true;
      child.kill(name);
    });
  }
}

/**
 * Ends the child when one of the ancestors has ended: first by SIGTERM, after 3.5 s by SIGKILL. A child that
 * has already received a signal gets 30 s for a graceful shutdown, because a signal to the whole group ends
 * the shell at once.
 */
function endWith(parents, child) {
  const watch = setInterval(() => {
    if (parents.every(({ pid, parent }) => getParent(pid) === parent)) return;
    clearInterval(watch);
    if (!child.isSignaled) child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), child.isSignaled ? 30000 : 3500);
  }, 400);
  child.on('exit', () => clearInterval(watch));
}

/**
 * Returns this process with its parent. If a shell runs between npm and this process, also the shell with its
 * parent.
 */
function getAncestors() {
  const self = { pid: process.pid, parent: process.ppid };
  const grandparent = process.env.npm_lifecycle_event ? getParent(process.ppid) : undefined;
  if (!grandparent || !/^(ba|da|z|k)?sh$/.test(getName(process.ppid))) return [self];
  // npm ended before this process started (in a container npm itself may be process 1)
  if (grandparent === 1 && !/^(npm|node)/.test(getName(1))) process.exit(1);
  return [self, { pid: process.ppid, parent: grandparent }];
}

function getParent(pid) {
  if (pid === process.pid) return process.ppid;
  const stat = readStat(pid);
  return stat ? Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) : undefined;
}

function getName(pid) {
  const stat = readStat(pid);
  return stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
}

/**
 * Reads the status line of a process on Linux. It is empty elsewhere, where shells replace themselves by
 * their only command.
 */
function readStat(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the folder for compiled code, in the project's cache folder. */
function compileCache() {
  const user = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(process.env.PDS_CACHE_DIR || path.join(user, 'process-document-service'), 'compiled');
}

function userError(message) {
  return Object.assign(new Error(message), { isUserError: true });
}
