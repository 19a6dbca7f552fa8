/** Brings node_modules up to the lock file with `npm ci`, once, also when two processes ask for it at the same time. */
'use strict';

// biome-ignore-start lint/style/useNodejsImportProtocol: Node 12 does not know the protocol
const { spawn } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
// biome-ignore-end lint/style/useNodejsImportProtocol: see above

/** Installs if need be; `watch` is given npm's process. Throws an error marked `plain` with one clear sentence. */
exports.installWhatIsMissing = async function installWhatIsMissing(root, watch) {
  if (isInstalled(root)) return;
  const lock = await takeTurn(root);
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
  // installed by hand: npm's own record is as new as the lock file
  const record = path.join(root, 'node_modules', '.package-lock.json');
  if (!fs.existsSync(record)) return false;
  if (fs.statSync(record).mtimeMs < fs.statSync(path.join(root, 'package-lock.json')).mtimeMs) return false;
  try {
    fs.writeFileSync(mark, wanted);
  } catch {
    // a read-only installation (a container image): the question is asked again the next time
  }
  return true;
}

async function install(root, lock, watch) {
  const wanted = lockHash(root);
  console.error('Installing what the project needs (npm ci) …');
  // npm by the user's own Node: the one in node_modules is about to be replaced
  const own = path.join(root, 'node_modules', '.bin');
  const folders = process.env.PATH.split(path.delimiter).filter((one) => path.resolve(one) !== own);
  const env = Object.assign({}, process.env, { PATH: folders.join(path.delimiter) });
  const npm = spawn('npm', ['ci', '--include=dev', '--include=optional'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    env,
  });
  // whoever waits waits for npm itself, even when this process is killed
  if (npm.pid) fs.writeFileSync(lock, String(npm.pid));
  watch(npm);
  let said = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (part) => (said += part));
  const [error, code] = await new Promise((done) => {
    npm.on('error', (reason) => done([reason, 1]));
    npm.on('close', (status) => done([undefined, status]));
  });
  if (error) throw plain('npm was not found: install Node.js together with npm, then run this again.');
  if (code !== 0) throw plain(reasonOf(said));
  fs.writeFileSync(markFile(root), wanted);
}

function reasonOf(said) {
  const lines = said.trim().split('\n').slice(-12).join('\n');
  const unreachable = /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH)|network/i;
  return unreachable.test(said)
    ? `${lines}\n\nThe npm registry cannot be reached: check the network, or the registry and proxy settings of npm, then run this again.`
    : `${lines}\n\nnpm ci failed: the reason is above.`;
}

/** Waits until no other process installs here, and answers the lock file, to be removed at the end. */
async function takeTurn(root) {
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
    if (isLeft(lock)) fs.unlinkSync(lock);
    else if (tries === 0) console.error('Another process is installing: waiting for it …');
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** True when the process that took the lock has died. */
function isLeft(lock) {
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

function plain(message) {
  return Object.assign(new Error(message), { plain: true });
}
