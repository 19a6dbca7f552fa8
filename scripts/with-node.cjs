/**
 * Runs a script of this project on any machine: installs what is missing, picks the right Node and hands over to it.
 * `node scripts/with-node.cjs <script.ts> [args…]` or `node scripts/with-node.cjs --bin <tool> [args…]`.
 * Plain old JavaScript without dependencies: it must run on whatever Node is there (12 or newer).
 */
'use strict';

// biome-ignore-start lint/style/useNodejsImportProtocol: Node 12 does not know the protocol
const { spawn, spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
// biome-ignore-end lint/style/useNodejsImportProtocol: see above
const { installWhatIsMissing } = require('./install.cjs');

const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
const oldest = [22, 22];

main().catch((error) => {
  console.error(error.plain ? error.message : error.stack);
  process.exit(1);
});

async function main() {
  const words = process.argv.slice(2);
  if (words.length === 0)
    throw plain('Say which script to run: node scripts/with-node.cjs <script.ts> [args…]');
  const parents = ancestors();
  await installWhatIsMissing(root, (child) => endWith(parents, child));
  const node = pickNode();
  const isTool = words[0] === '--bin';
  const script = isTool ? toolPath(words[1]) : path.resolve(words[0]);
  const guard = isTool ? [] : ['--require', path.join(__dirname, 'end-with-parent.cjs')];
  const flags = ['--disable-warning=ExperimentalWarning'].concat(guard);
  const env = Object.assign({ NODE_COMPILE_CACHE: compileCache() }, process.env, {
    PATH: path.join(modules, '.bin') + path.delimiter + process.env.PATH,
  });
  if (!isTool) env.PDS_PARENT_PID = String(process.pid);
  // In a session of its own: Ctrl-C reaches the whole foreground group and npm passes it on once more, but the script gets
  // each signal from here, once.
  const child = spawn(node, flags.concat(script, words.slice(isTool ? 2 : 1)), {
    stdio: 'inherit',
    detached: true,
    env,
  });
  passSignals(child);
  endWith(parents, child);
  child.on('error', (error) => {
    console.error(`${node} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

/** The Node that the project brought, else the one that runs this, if it is new enough. */
function pickNode() {
  const brought = path.join(modules, '.bin', 'node');
  if (runs(brought)) return brought;
  const own = process.versions.node.split('.').map(Number);
  if (own[0] > oldest[0] || (own[0] === oldest[0] && own[1] >= oldest[1])) return process.execPath;
  throw plain(
    `This needs Node ${oldest.join('.')} or newer, and the Node here is ${process.versions.node}: install a newer one (https://nodejs.org), then run this again.`,
  );
}

function runs(file) {
  return fs.existsSync(file) && spawnSync(file, ['--version']).status === 0;
}

function toolPath(name) {
  const link = path.join(modules, '.bin', String(name));
  if (!fs.existsSync(link)) throw plain(`There is no tool ${name} in node_modules/.bin.`);
  return fs.realpathSync(link);
}

/** Passes each signal on, once: what comes again within a second is the same Ctrl-C by another way. */
function passSignals(child) {
  const last = {};
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (Date.now() - (last[name] || 0) < 1000) return;
      last[name] = Date.now();
      child.told = true;
      child.kill(name);
    });
  }
}

/**
 * Ends the child when one of those above has died, however it died: first politely, after 3.5 s by force. A child that was
 * told to stop before (a signal to the whole group ends the shell at once) has the time that an orderly stop takes.
 */
function endWith(parents, child) {
  const watch = setInterval(() => {
    if (parents.every((one) => parentOf(one.pid) === one.parent)) return;
    clearInterval(watch);
    if (!child.told) child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), child.told ? 30000 : 3500);
  }, 400);
  child.on('exit', () => clearInterval(watch));
}

/** This process with its parent; where a shell stands between npm and this, the shell with its parent too. */
function ancestors() {
  const self = { pid: process.pid, parent: process.ppid };
  const above = process.env.npm_lifecycle_event ? parentOf(process.ppid) : undefined;
  if (!above || !/^(ba|da|z|k)?sh$/.test(nameOf(process.ppid))) return [self];
  // npm died before this had even started (in a container npm itself may be process 1)
  if (above === 1 && !/^(npm|node)/.test(nameOf(1))) process.exit(1);
  return [self, { pid: process.ppid, parent: above }];
}

function parentOf(pid) {
  if (pid === process.pid) return process.ppid;
  const stat = statOf(pid);
  return stat ? Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) : undefined;
}

function nameOf(pid) {
  const stat = statOf(pid);
  return stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
}

/** Linux's word on a process; empty elsewhere, where the shell has always handed over to its only command. */
function statOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** The folder for compiled code, in the same cache folder as everything else that is kept. */
function compileCache() {
  const user = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(process.env.PDS_CACHE_DIR || path.join(user, 'process-document-service'), 'compiled');
}

function plain(message) {
  return Object.assign(new Error(message), { plain: true });
}
