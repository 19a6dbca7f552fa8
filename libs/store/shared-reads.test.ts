/** Tests which calls share a read, and which value each of them gets. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { sharedRead, sharedReadPerKey } from '#libs/store';

interface Place {
  city: string;
  street: string;
}

/** The keys of each read. */
let reads: string[][];
let failure: Error | undefined;
let read: (place: Place) => Promise<string | undefined>;

const toId = ({ city, street }: Place) => `${city} ${street}`;
const inRome = (street: string) => ({ city: 'Rome', street });

beforeEach(() => {
  [reads, failure] = [[], undefined];
  read = sharedRead({
    toId,
    async read(places: readonly Place[]) {
      reads.push(places.map(toId));
      await setImmediate();
      if (failure) throw failure;
      const known = places.filter(({ street }) => street !== 'nowhere');
      // in another order than the keys
      return new Map(known.toReversed().map((place) => [toId(place), `value of ${toId(place)}`]));
    },
  });
});

test('calls of the same turn share a read, which reads each key once', async () => {
  const places = [inRome('one'), inRome('nowhere'), inRome('two'), inRome('one')];
  const values = await Promise.all(places.map(read));
  expect(values).toEqual(['value of Rome one', undefined, 'value of Rome two', 'value of Rome one']);
  expect(reads).toEqual([['Rome one', 'Rome nowhere', 'Rome two']]);
});

test('calls of several callbacks of the same turn share a read', async () => {
  const first = read(inRome('one'));
  // as between the callbacks of two sockets
  for (let at = 0; at < 10; at += 1) await new Promise((resolve) => process.nextTick(resolve));
  await Promise.all([first, read(inRome('two'))]);
  expect(reads).toEqual([['Rome one', 'Rome two']]);
});

test('a key is read again for a call during or after its read', async () => {
  const key = inRome('one');
  const first = read(key);
  await setImmediate();
  expect(reads).toHaveLength(1);
  await Promise.all([first, read(key)]);
  await read(key);
  expect(reads).toEqual([['Rome one'], ['Rome one'], ['Rome one']]);
});

test('a failed read rejects the calls that shared it, and no later one', async () => {
  failure = new Error('no primary');
  const results = await Promise.allSettled([inRome('one'), inRome('two')].map(read));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  failure = undefined;
  expect(await read(inRome('one'))).toBe('value of Rome one');
});

test('more than 100 keys of the same turn are read in several reads', async () => {
  await Promise.all(Array.from({ length: 150 }, (_, at) => read(inRome(String(at)))));
  expect(reads.map((keys) => keys.length)).toEqual([100, 50]);
});

test('a failed read per key rejects only the calls with this key', async () => {
  const readPerKey = sharedReadPerKey({
    toId,
    readOne({ street }: Place) {
      reads.push([street]);
      if (street === 'gone') throw new Error('gone');
      return street === 'closed' ? Promise.reject(new Error('closed')) : Promise.resolve(street);
    },
  });
  const streets = ['open', 'closed', 'gone', 'open', 'closed'];
  const results = await Promise.allSettled(streets.map((street) => readPerKey(inRome(street))));
  const open = { status: 'fulfilled', value: 'open' };
  const [closed, gone] = ['closed', 'gone'].map((reason) => ({
    status: 'rejected',
    reason: new Error(reason),
  }));
  expect(results).toEqual([open, closed, gone, open, closed]);
  expect(reads).toEqual([['open'], ['closed'], ['gone']]);
});

test('a slow read per key delays no call with another key', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const readPerKey = sharedReadPerKey({
    toId,
    readOne({ street }: Place) {
      reads.push([street]);
      return street === 'slow' ? promise : Promise.resolve(street);
    },
  });
  const slow = readPerKey(inRome('slow'));
  // it begins after all calls of this turn
  await Promise.resolve();
  expect(reads).toEqual([]);
  expect(await readPerKey(inRome('fast'))).toBe('fast');
  const later = readPerKey(inRome('slow'));
  resolve('slow');
  expect(await Promise.all([slow, later])).toEqual(['slow', 'slow']);
  expect(reads).toEqual([['slow'], ['fast'], ['slow']]);
});
