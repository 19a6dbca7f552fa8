/** A volume of a test's own: a small file system that it may fill, and a node exporter that tells how full it is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, programFor, until } from '#libs/testing';

/** A volume that is mounted. */
export interface Volume {
  /** Where it is, as its exporter sees it. */
  mountpoint: string;
  /** Where Prometheus is told of it. */
  target: string;
  /** Fills it, or empties it, until such a share of it is free. */
  setFreeShare(share: number): void;
  /** Ends its exporter; nothing is left of it. May be called twice. */
  stop(): Promise<void>;
}

const mebibytes = 16;

/** Mounts one in a namespace of its own, as an ordinary user may, too; nothing where there is no exporter. */
export async function mountVolume(): Promise<Volume | undefined> {
  const exporter = await programFor('prometheus-node-exporter', {
    from: 'prometheus-node-exporter',
    purpose: 'alerts of disks',
  });
  if (!exporter) return undefined;
  const mountpoint = await mkdtemp(join(tmpdir(), 'pds-volume-'));
  const [port] = await freePorts(1);
  const target = `127.0.0.1:${port}`;
  const command = [exporter, `--web.listen-address=${target}`, '--log.level=error'];
  const only = ['--collector.disable-defaults', '--collector.filesystem'];
  const within = ['--map-root-user', '--mount', '--pid', '--fork', '--mount-proc'];
  const child = spawn('unshare', [...within, '/bin/sh', '-c', mountScript, mountpoint, ...command, ...only], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.on('error', () => {});
  let isGone = false;
  const gone = once(child, 'exit').then(() => {
    isGone = true;
  });
  const volume: Volume = {
    mountpoint,
    target,
    setFreeShare(share) {
      child.stdin.write(`${Math.floor((1 - share) * mebibytes * 1024)}\n`);
    },
    async stop() {
      child.stdin.end();
      await gone;
      await rm(mountpoint, { recursive: true, force: true });
    },
  };
  const answers = () =>
    fetch(`http://${target}/metrics`).then(
      async (response) => (await response.text()).includes(mountpoint),
      () => false,
    );
  try {
    await until('a volume', async () => {
      if (isGone) throw new Error('No file system can be mounted here: the tests of disks need `unshare`');
      return answers();
    });
  } catch (error) {
    await volume.stop();
    throw error;
  }
  return volume;
}

/** The first process of its namespace: when its stdin closes, for whatever reason, it ends, and all that is in there with it. */
const mountScript = `mount -t tmpfs -o size=${mebibytes}m volume "$0" || exit 1
"$@" &
while read -r kib; do head -c "\${kib}k" /dev/zero > "$0/data"; done`;
