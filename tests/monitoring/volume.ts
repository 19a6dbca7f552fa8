/** Mounts a small file system that a test can fill, with a node exporter that reports its usage. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTestProgram, freePorts, httpClient, until } from '#libs/testing';

/** A mounted volume. */
export interface Volume {
  /** Mount point as the exporter reports it. */
  mountpoint: string;
  /** Address of the exporter. */
  target: string;
  /** Changes the content so that this share (0 to 1) of the volume is free. */
  setFreeShare(share: number): void;
  /** Stops the exporter and removes the volume. Can be called twice. */
  stop(): Promise<void>;
}

const mebibytes = 16;

/** Mounts a volume in its own namespace, which needs no root. Returns undefined if the exporter is not installed. */
export async function mountVolume(): Promise<Volume | undefined> {
  const exporter = await findTestProgram('prometheus-node-exporter', {
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
    httpClient(`http://${target}`)
      .request('GET', '/metrics')
      .then(
        ({ bytes }) => new TextDecoder().decode(bytes).includes(mountpoint),
        () => false,
      );
  try {
    await until('a volume', async () => {
      if (isGone) throw new Error('Could not mount a file system: the disk tests need `unshare`');
      return answers();
    });
  } catch (error) {
    await volume.stop();
    throw error;
  }
  return volume;
}

/** First process of the namespace. It ends when its stdin closes, and with it all processes of the namespace. */
const mountScript = `mount -t tmpfs -o size=${mebibytes}m volume "$0" || exit 1
"$@" &
while read -r kib; do head -c "\${kib}k" /dev/zero > "$0/data"; done`;
