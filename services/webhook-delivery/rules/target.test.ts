/** Tests which targets are allowed, in all known notations. */
import { describe, expect, test } from '@jest/globals';
import { checkTargetPolicy, checkUrlForm, isAllowed, parseLiteralAddress, parseRange } from './target.ts';

const strict = { allowLoopback: false, allowedRanges: [] };
const local = { allowLoopback: true, allowedRanges: [] };
const ranges = {
  allowLoopback: false,
  allowedRanges: ['10.20.0.0/16', 'fd00::/8'].flatMap((cidr) => parseRange(cidr) ?? []),
};

describe('form of a target URL', () => {
  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?a=1',
    'https://[2606:4700::1111]/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://example.com./',
    'https://my_host.example/',
    'http://127.0.0.1:9000/',
    'http://localhost/',
    'http://[::1]:1/',
  ])('the URL %s is valid', (url) => expect(checkUrlForm(url)).toBeUndefined());

  test.each([
    ['', /must be absolute/],
    ['example.com', /must be absolute/],
    ['/hook', /must be absolute/],
    ['https://', /must be absolute/],
    ['https://.', /valid host name/],
    ['https://..', /valid host name/],
    ['https://example..com', /valid host name/],
    ['https://.example.com', /valid host name/],
    ['https://-a.example.com', /valid host name/],
    ['https://*.example.com', /valid host name/],
    ['https://a!b.example.com', /valid host name/],
    [`https://${'a'.repeat(64)}.example.com`, /valid host name/],
    ['https://exa mple.com', /spaces/],
    [' https://example.com', /spaces/],
    ['https://example.com/a b', /spaces/],
    ['https://example.com/\n', /line breaks/],
    ['https://example.com:99999', /absolute and valid/],
    ['http://example.com', /https/],
    ['http://10.0.0.1', /https/],
    ['http://localhost.example.com', /https/],
    ['ftp://example.com', /https/],
    ['file:///etc/passwd', /https/],
    ['javascript:alert(1)', /https/],
    ['https://me:pw@example.com', /credentials/],
    ['https://me@example.com', /credentials/],
    ['https://:pw@example.com', /credentials/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com/#', /fragment/],
  ])('the URL %j is rejected', (url, message) => expect(checkUrlForm(url)).toMatch(message));
});

test('http targets need the loopback allowance', () => {
  expect(checkTargetPolicy('http://127.0.0.1/', strict)).toMatch(/https/);
  expect(checkTargetPolicy('http://127.0.0.1/', local)).toBeUndefined();
  expect(checkTargetPolicy('https://example.com/', strict)).toBeUndefined();
  expect(checkTargetPolicy('http://example.com/', local)).toMatch(/https/);
});

describe('public addresses', () => {
  test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '::ffff:8.8.8.8'])(
    'the public address %s is allowed',
    (address) => {
      expect(isAllowed(address, strict)).toBe(true);
    },
  );
});

const notPublic = [
  '0.0.0.0',
  '10.1.2.3',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.192',
  '192.168.1.1',
  '192.88.99.1',
  '198.18.0.1',
  '203.0.113.5',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '4000::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
];

describe('other addresses', () => {
  test.each(notPublic)('the address %j is rejected', (address) =>
    expect(isAllowed(address, strict)).toBe(false),
  );
});

test('allowLoopback allows loopback addresses only', () => {
  const allowed = notPublic.filter((address) => isAllowed(address, local));
  expect(allowed).toEqual(['127.0.0.1', '127.255.255.254', '::1', '::127.0.0.1', '::ffff:127.0.0.1']);
});

test('an allowed range allows only its own addresses', () => {
  expect(isAllowed('10.20.3.4', ranges)).toBe(true);
  expect(isAllowed('::ffff:10.20.3.4', ranges)).toBe(true);
  expect(isAllowed('fd12::1', ranges)).toBe(true);
  expect(isAllowed('10.21.0.1', ranges)).toBe(false);
  expect(isAllowed('127.0.0.1', ranges)).toBe(false);
});

test('an invalid CIDR is not parsed', () => {
  expect(parseRange('10.0.0.0/33')).toBeUndefined();
  expect(parseRange('10.0.0.1')).toBeUndefined();
  expect(parseRange('example.com')).toBeUndefined();
});

describe('literal addresses', () => {
  test.each([
    ['https://2130706433/', '127.0.0.1'],
    ['https://0x7f000001/', '127.0.0.1'],
    ['https://0177.0.0.1/', '127.0.0.1'],
    ['https://127.1/', '127.0.0.1'],
    ['https://127.0.0.1./', '127.0.0.1'],
    ['https://①②⑦.0.0.1/', '127.0.0.1'],
    ['https://[::1]/', '::1'],
    ['https://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['https://example.com/', undefined],
  ])('parseLiteralAddress parses the host of %s', (url, address) =>
    expect(parseLiteralAddress(new URL(url).hostname)).toBe(address),
  );
});
