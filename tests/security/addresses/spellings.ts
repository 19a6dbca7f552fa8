/** Inner addresses, and all notations in which a URL can hide them. */

/** IPv4 addresses that no webhook may reach. */
export const innerIpv4 = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.0.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  // metadata services: AWS and others, ECS, Alibaba, Oracle, Azure
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
];

/** IPv6 addresses that no webhook may reach. The second one is the metadata service of AWS. */
export const innerIpv6 = ['::1', 'fd00:ec2::254', 'fc00::1', 'fec0::1', '2001:db8::1', '64:ff9b:1::1'];

/** The hosts of URLs that mean an IPv4 address, by notation. */
export function spellIpv4(address: string): Record<string, string> {
  const parts = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0');
  const octal = (value: number) => `0${value.toString(8)}`;
  const [high, low] = [hex(a * 256 + b, 4), hex(c * 256 + d, 4)];
  const toDigits = (zero: number) =>
    address.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  return {
    plain: address,
    'with a trailing dot': `${address}.`,
    decimal: String(whole),
    'decimal with a trailing dot': `${whole}.`,
    hexadecimal: `0x${hex(whole)}`,
    'hexadecimal in capitals': `0X${hex(whole, 8).toUpperCase()}`,
    octal: octal(whole),
    'hexadecimal parts': parts.map((part) => `0x${hex(part)}`).join('.'),
    'octal parts': parts.map(octal).join('.'),
    'octal parts with zeros': parts.map((part) => `000${octal(part)}`).join('.'),
    'mixed parts': `0x${hex(a)}.${octal(b)}.${c}.${d}`,
    'three parts': `${a}.${b}.${c * 256 + d}`,
    'two parts': `${a}.${(b * 256 + c) * 256 + d}`,
    'percent-encoded': [...address].map((letter) => `%${hex(letter.charCodeAt(0))}`).join(''),
    'full-width digits': toDigits(0xff10),
    'mathematical digits': toDigits(0x1d7d8),
    'ideographic dots': address.replaceAll('.', '。'),
    'full-width dots': address.replaceAll('.', '．'),
    'a soft hyphen': `${address.slice(0, 1)}\u00ad${address.slice(1)}`,
    'IPv4-mapped': `[::ffff:${address}]`,
    'IPv4-mapped, hexadecimal': `[::ffff:${high}:${low}]`,
    'IPv4-mapped, in full': `[0:0:0:0:0:FFFF:${high}:${low}]`,
    'IPv4-translated': `[::ffff:0:${address}]`,
    'IPv4-compatible': `[::${address}]`,
    NAT64: `[64:ff9b::${address}]`,
    'local NAT64': `[64:ff9b:1::${address}]`,
    '6to4': `[2002:${high}:${low}::]`,
    Teredo: `[2001:0:${high}:${low}::]`,
    ISATAP: `[fe80::5efe:${address}]`,
  };
}

/** The hosts of URLs that mean an IPv6 address, by notation. */
export function spellIpv6(address: string): Record<string, string> {
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text ? text.split(':') : []);
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  const all = [...groups(head), ...zeros, ...groups(tail)];
  return {
    plain: `[${address}]`,
    'in capitals': `[${address.toUpperCase()}]`,
    'in full': `[${all.map((group) => group.padStart(4, '0')).join(':')}]`,
    'without its zeros': `[${all.join(':')}]`,
    'with a zone': `[${address}%25lo]`,
  };
}

/** Hosts that mean this machine or a metadata service by their name. */
export const innerNames = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'inside.localhost',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  '0',
  '0.0.0.0',
  '[::]',
];
