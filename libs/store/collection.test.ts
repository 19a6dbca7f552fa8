/** Tests of the mongoose schemas that collections derive from their rows. */
import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { z } from 'zod';
import { collection, objectId } from './collection.ts';

const { schema } = collection('samples', {
  row: z.object({
    _id: z.uuid(),
    kind: z.enum(['a', 'b']),
    count: z.number().int(),
    is_first: z.literal(true).exactOptional(),
    read_at: z.date().nullable().exactOptional(),
    headers: z.record(z.string(), z.string()),
    file: objectId,
    words: z.array(z.string()),
    recipient_ids: z.array(z.uuid()).exactOptional(),
    secrets: z.array(z.object({ sealed: z.string(), until: z.date().nullable() })),
  }),
});

test('the mongoose types of fields follow from their zod types', () => {
  const types = Object.entries(schema.paths).map(([name, { instance }]) => [name, instance]);
  expect(Object.fromEntries(types)).toEqual({
    ...{ _id: 'String', kind: 'String', count: 'Number', is_first: 'Boolean', read_at: 'Date' },
    ...{ headers: 'Mixed', file: 'ObjectId', words: 'Array', recipient_ids: 'Array', secrets: 'Array' },
  });
});

test('an item of an array has its own fields and no id', () => {
  expect(Object.keys(schema.path('secrets').schema?.paths ?? {})).toEqual(['sealed', 'until']);
});

test('an optional array is absent by default, so that an upsert adds none', () => {
  const Sample = mongoose.createConnection().model('samples', schema);
  const row = new Sample({}).toObject();
  expect(row).toHaveProperty('words', []);
  expect(row).not.toHaveProperty('recipient_ids');
});

test('a field of a type that cannot be stored is rejected', () => {
  const row = z.object({ _id: z.string(), total: z.bigint() });
  expect(() => collection('wrong', { row })).toThrow('zod type bigint');
});
