/** A DNS server for tests on a UDP port of 127.0.0.1. It resolves, denies or ignores names as configured. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/**
 * The answer for a name: its addresses (IPv6 in full form), `nothing` (NXDOMAIN), or `silence` (no response).
 */
export type DnsAnswer = readonly string[] | 'nothing' | 'silence';

/** A running DNS server. */
export interface NameServer {
  /** `127.0.0.1:port`. */
  address: string;
  /** Every name that was queried. */
  queries: string[];
  close(): Promise<void>;
}

/** Starts a DNS server that answers with `getAnswer`. */
export async function startNameServer(getAnswer: (name: string) => DnsAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = parseQuestion(query);
    queries.push(name);
    const answer = getAnswer(name);
    if (answer === 'silence') return;
    const addresses = answer === 'nothing' ? [] : answer;
    const records = addresses.filter((address) => address.includes(':') === (type === aaaa)).map(toRecord);
    const head = Buffer.from(query.subarray(0, 12));
    // RFC 1035, section 4.1.1: a response with recursion available; RCODE 3 means that the name does not
    // exist
    head.writeUInt16BE(answer === 'nothing' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(records.length, 6);
    head.fill(0, 8, 12);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

const aaaa = 28;

function parseQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Encodes an A or AAAA record for the name in the question (RFC 1035, sections 4.1.3 and 4.1.4). */
function toRecord(address: string): Buffer {
  const bytes = address.includes(':')
    ? Buffer.from(
        address
          .split(':')
          .map((part) => part.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number));
  const fields = Buffer.alloc(12);
  fields.writeUInt16BE(0xc00c, 0);
  fields.writeUInt16BE(address.includes(':') ? aaaa : 1, 2);
  fields.writeUInt16BE(1, 4);
  fields.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([fields, bytes]);
}
