/** Updates node_modules to the lock file with `npm ci`. Concurrent processes install only once. */
'use strict';

// biome-ignore-start lint/style/useNodejsImportProtocol: Node 12 does not know the protocol
const { spawn } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
// biome-ignore-end lint/style/useNodejsImportProtocol: see above

/**
 * Installs if necessary. Calls `watch` with npm's process. Errors with `isUserError` have a message for the
 * user.
 */
exports.installIfNeeded = async function installIfNeeded(root, watch) {
  if (isInstalled(root)) return;
  const lock = await acquireLock(root);
  try {
    if (!isInstalled(root)) await install(root, lock, watch);
  } finally {
    fs.unlinkSync(lock);
  }
};

function isInstalled(root) {
  const wanted = lockHash(root);
  if (wanted === undefined) return true;
  const mark = markFile(root);
  if (fs.existsSync(mark)) return fs.readFileSync(mark, 'utf8') === wanted;
  // after a manual `npm ci`, npm's own record is as new as the lock file
  const record = path.join(root, 'node_modules', '.package-lock.json');
  if (!fs.existsSync(record)) return false;
  if (fs.statSync(record).mtimeMs < fs.statSync(path.join(root, 'package-lock.json')).mtimeMs) return false;
  try {
    fs.writeFileSync(mark, wanted);
  } catch {
    // the installation is read-only (a container image), so the next start checks again
  }
  return true;
}

async function install(root, lock, watch) {
  const wanted = lockHash(root);
  console.error('Installing dependencies (npm ci) …');
  // run npm with the user's Node, because npm replaces the one in node_modules
  const projectBin = path.join(root, 'node_modules', '.bin');
  const folders = process.env.PATH.split(path.delimiter).filter(
    (folder) => path.resolve(folder) !== projectBin,
  );
  const env = Object.assign({}, process.env, { PATH: folders.join(path.delimiter) });
  const npm = spawn('npm', ['ci', '--include=dev', '--include=optional'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    env,
  });
  // other processes wait for npm itself, even if this process is killed
  if (npm.pid) fs.writeFileSync(lock, String(npm.pid));
  watch(npm);
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (part) => (output += part));
  const [error, code] = await new Promise((done) => {
    npm.on('error', (reason) => done([reason, 1]));
    npm.on('close', (status) => done([undefined, status]));
  });
  if (error) throw userError('npm was not found. Install Node.js with npm, then run this again.');
  if (code !== 0) throw userError(explainFailure(output));
  fs.writeFileSync(markFile(root), wanted);
}

function explainFailure(output) {
  const lines = output.trim().split('\n').slice(-12).join('\n');
  const unreachable = /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH)|network/i;
  return unreachable.test(output)
    ? `${lines}\n\nCannot reach the npm registry. Check the network, and npm's registry and proxy settings, then run this again.`
    : `${lines}\n\nnpm ci failed. See the reason above.`;
}

/** Waits until no other process installs in this folder. Returns the lock file, which the caller removes. */
async function acquireLock(root) {
  // not inside node_modules, which npm ci removes
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const lock = path.join(os.tmpdir(), `pds-install-${name}.lock`);
  for (let tries = 0; ; tries++) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return lock;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isStale(lock)) fs.unlinkSync(lock);
    else if (tries === 0) console.error('Waiting for another process to finish installing …');
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** Returns true if the process that created the lock has ended. */
function isStale(lock) {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function lockHash(root) {
  const lock = path.join(root, 'package-lock.json');
  return fs.existsSync(lock) ? createHash('sha256').update(fs.readFileSync(lock)).digest('hex') : undefined;
}

function markFile(root) {
  return path.join(root, 'node_modules', '.installed-lock');
}

function userError(message) {
  return Object.assign(new Error(message), { isUserError: true });
}
