/** A name server for tests, on a UDP port of 127.0.0.1: it knows some names, denies others, and is silent about some. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What it says about a name: addresses (those of IPv6 in full), `nothing` (there is no such name), or `silence`. */
export type Saying = readonly string[] | 'nothing' | 'silence';

/** A running name server. */
export interface NameServer {
  /** `127.0.0.1:port`. */
  address: string;
  /** Every name that it was asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** Starts a name server. */
export async function nameServer(saying: (name: string) => Saying): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = questionIn(query);
    asked.push(name);
    const said = saying(name);
    if (said === 'silence') return;
    const addresses = said === 'nothing' ? [] : said;
    const answers = addresses.filter((address) => address.includes(':') === (type === aaaa)).map(record);
    const head = Buffer.from(query.subarray(0, 12));
    // RFC 1035, section 4.1.1: a response, recursion available; 3 stands for a name that there is not
    head.writeUInt16BE(said === 'nothing' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(answers.length, 6);
    head.fill(0, 8, 12);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

const aaaa = 28;

function questionIn(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An A or AAAA record of the name in the question (RFC 1035, sections 4.1.3 and 4.1.4). */
function record(address: string): Buffer {
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
