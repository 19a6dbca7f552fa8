/** Tests that no notation of an inner address lets a webhook reach it, in a network in which these addresses exist. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, slowness, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';
import type { ProbeResult } from './probe.ts';
import { innerIpv4, innerIpv6, innerNames, spellIpv4, spellIpv6 } from './spellings.ts';

const probe = new URL('./probe.ts', import.meta.url).pathname;
const timeout = 300_000 * slowness;

/** Gives the addresses to the loopback device of a new network namespace, and runs the probe in it. */
const namespaceScript = `
  ip link set lo up || exit 77
  for address in $1; do ip address add "$address/32" dev lo || exit 77; done
  for address in $2; do ip -6 address add "$address/128" dev lo nodad || exit 77; done
  shift 2
  exec "$@"
`;

/** Runs the probe in a network namespace; undefined if this machine does not allow one. */
async function probeInNamespace(): Promise<ProbeResult | undefined> {
  const own = ['127.0.0.1', '127.255.255.254', '::1'];
  const isAdded = (address: string) => !own.includes(address);
  const lists = [innerIpv4, innerIpv6].map((list) => list.filter(isAdded).join(' '));
  const mapUser = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const all = [innerIpv4, innerIpv6].map((list) => list.join(',')).join(';');
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', probe, all];
  const args = ['--net', ...mapUser, 'sh', '-c', namespaceScript, 'sh', ...lists, ...program];
  try {
    const { stdout } = await promisify(execFile)('unshare', args, { timeout });
    return JSON.parse(stdout);
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    const isMissing =
      code === 'ENOENT' || code === 77 || /unshare failed|Operation not permitted/.test(stderr);
    if (!isMissing) throw error;
    return undefined;
  }
}

/** Runs the probe in the network of this machine, which has only its loopback addresses. */
async function probeLoopback(): Promise<ProbeResult> {
  const args = ['--disable-warning=ExperimentalWarning', probe, '127.0.0.1,127.255.255.254;'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout });
  return JSON.parse(stdout);
}

describe('a webhook opens no connection to an inner address', () => {
  let result: ProbeResult;
  let expected: string[];

  beforeAll(async () => {
    const inNamespace = await probeInNamespace();
    if (!inNamespace)
      process.stderr.write(
        'NOT TESTED: inner addresses other than loopback, which need a network namespace.\n',
      );
    result = inNamespace ?? (await probeLoopback());
    expected = inNamespace ? [...innerIpv4, ...innerIpv6] : ['127.0.0.1', '127.255.255.254'];
  }, timeout);

  test('the addresses exist, and a sender with permission reaches them', () => {
    expect(result.reachable).toEqual(expected);
    expect(result.reachedWithPermission).toEqual(expected);
  });

  test('no notation and no name reaches them', () => {
    expect(result.opened).toEqual([]);
    expect(result.tried).toBeGreaterThan(30 * Math.min(2, expected.length));
    expect(Object.keys(result.errors)).not.toContain('none');
  });
});

describe('a webhook with an inner address cannot be registered', () => {
  let app: TestApp;
  let ada: Person;
  beforeAll(async () => {
    app = await testApp({ services, contracts, environment: { WEBHOOK_ALLOW_INSECURE_TARGETS: 'false' } });
    ada = await register(app);
  });
  afterAll(() => app?.stop());

  const hosts = [
    ...innerIpv4.map((address) => [address, Object.values(spellIpv4(address))] as const),
    ...innerIpv6.map((address) => [address, Object.values(spellIpv6(address))] as const),
    ['names', innerNames] as const,
  ];
  test.each(hosts)('%s', async (_, spellings) => {
    for (const host of spellings) {
      const body = { name: 'Hook', url: `https://${host}/hook`, event_types: ['document.published'] };
      const { status } = await app.request('POST', '/webhooks', { as: ada.key, body });
      expect([host, status]).toEqual([host, 400]);
    }
  });
});
