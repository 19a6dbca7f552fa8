/** Tests the commands of the installed program `pds` about reviews against real services. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMember, publishDocument } from '#libs/testing';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

let pds: PdsFixture;

beforeAll(async () => {
  pds = await createPdsFixture();
});
afterAll(() => pds?.close());

test('documents get a reviewer and an interval, and a person confirms them', async () => {
  const { admin, env } = await pds.createAdmin();
  const reviewer = await addMember(pds.app, admin.key);
  const { id } = await publishDocument(pds.app, admin.key, { title: 'Till' });
  const review = (...options: string[]) => pds.run(['docs', 'review', id, ...options], { env });
  const set = await review('--reviewer', reviewer.userId, '--every', '12');
  expect(set.stdout).toMatch(/^To be reviewed every 12 months, next by \d{4}-\d\d-\d\d\.\n$/);

  const byKey = await pds.run(['docs', 'confirm', id], { env });
  expect([byKey.code, byKey.stderr]).toEqual([3, expect.stringContaining('person_required')]);
  const person = { env, input: reviewer.password };
  const confirm = ['docs', 'confirm', id, '--email', reviewer.email, '--comment', 'Tried it.'];
  const confirmed = await pds.json(confirm, person);
  expect(confirmed.review).toMatchObject({ reviewer_id: reviewer.userId, reviewed_at: expect.any(String) });
  expect((await pds.run(confirm, person)).stdout).toMatch(
    /^Confirmed "Till"\. To be reviewed every 12 months,/,
  );

  const json = await pds.json(['docs', 'review', id, '--reviewer', 'none', '--every', '1'], { env });
  expect(json.review).toMatchObject({ reviewer_id: null, every_months: 1 });
  expect((await review('--every', 'never')).stdout).toBe('No review is due.\n');
});

test('mistakes are explained', async () => {
  const { admin, env } = await pds.createAdmin();
  const { id } = await publishDocument(pds.app, admin.key);
  const review = (...options: string[]) => pds.run(['docs', 'review', id, ...options], { env });
  for (const options of [[], ['--every', '1.5'], ['--every', 'soon']])
    expect((await review(...options)).code).toBe(2);
  const refused = await review('--every', '61');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('invalid_request')]);
});
