/** The organization over HTTP with a real MongoDB: name, slug, settings and the view for other services. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { addMember, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
});
afterAll(() => app?.stop());

describe('the organization', () => {
  test('organization settings are merged by key', async () => {
    const ada = await register(app);
    const patch = (body: unknown) => app.request('PATCH', '/organization', { as: ada.token, body });
    const before = (await app.request('GET', '/organization', { as: ada.key })).body;
    const defaults = {
      ...{ lock_published: false, approval_required: false, show_control: false },
      ...{ embed_origins: null, language: 'en' },
    };
    expect(before.settings).toEqual(defaults);
    await patch({ settings: { lock_published: true } });
    const { body } = await patch({
      name: 'New name',
      settings: { embed_origins: ['https://intranet.example'] },
    });
    expect(body).toEqual({
      ...before,
      name: 'New name',
      settings: { ...defaults, lock_published: true, embed_origins: ['https://intranet.example'] },
    });
    expect((await app.request('GET', '/organization', { as: ada.key })).body).toEqual(body);
    const change = { embed_origins: null, language: 'DE-ch', approval_required: true, show_control: true };
    expect((await patch({ settings: change })).body.settings).toEqual({
      lock_published: true,
      approval_required: true,
      show_control: true,
      embed_origins: null,
      language: 'de-CH',
    });
  });

  test('an update reports all invalid settings', async () => {
    const ada = await register(app);
    const bad = {
      slug: 'A',
      settings: {
        lock_published: 1,
        approval_required: null,
        show_control: 'yes',
        colour: 'red',
        embed_origins: ['intranet', 'https://x.example/path', 'ftp://x'],
        language: 'en_US',
      },
    };
    const { status, body } = await app.request('PATCH', '/organization', { as: ada.token, body: bad });
    expect(status).toBe(400);
    const paths = body.errors.map(({ path }: { path: string }) => path);
    for (const at of [
      'slug',
      'settings/lock_published',
      'settings/approval_required',
      'settings/show_control',
      'settings/colour',
      'settings/language',
      'settings/embed_origins/0',
      'settings/embed_origins/1',
      'settings/embed_origins/2',
    ])
      expect(paths).toContain(`body/${at}`);
    for (const host of [
      '*',
      '*.',
      '*.example.com',
      'a.*.com',
      '[::1]',
      'a!b.example',
      'a.example.',
      'a..b',
    ]) {
      const settings = { embed_origins: [`https://${host}`] };
      const response = await app.request('PATCH', '/organization', { as: ada.token, body: { settings } });
      expect([host, response.status]).toEqual([host, 400]);
      expect(response.body.errors).toMatchObject([
        { message: expect.stringContaining('a wildcard, the default port') },
      ]);
    }
    expect((await app.request('PATCH', '/organization', { as: ada.token, body: {} })).status).toBe(400);
    expect(
      (await app.request('PATCH', '/organization', { as: ada.token, body: { slug: 'embed' } })).status,
    ).toBe(400);
  });

  test('an update to a taken slug fails with 409', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    const taken = await app.request('PATCH', '/organization', { as: ada.token, body: { slug: bob.slug } });
    expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    const slug = `new-${newId().slice(-8)}`;
    expect((await app.request('PATCH', '/organization', { as: ada.token, body: { slug } })).body.slug).toBe(
      slug,
    );
  });

  test('the profile view has all settings and is found by one index key', async () => {
    const ada = await register(app);
    const profiles = app.db.collection('organization_profiles');
    const readProfile = async () => {
      const row = await profiles.findOne({ slug: ada.slug });
      return [
        row?.lock_published,
        row?.approval_required,
        row?.show_control,
        row?.embed_origins,
        row?.language,
        row?.row_version,
      ];
    };
    expect(await readProfile()).toEqual([false, false, false, null, 'en', 1]);
    const settings = {
      ...{ lock_published: true, approval_required: true, show_control: true },
      ...{ embed_origins: ['https://intranet.example'], language: 'fr' },
    };
    await app.request('PATCH', '/organization', { as: ada.token, body: { settings } });
    expect(await readProfile()).toEqual([true, true, true, ['https://intranet.example'], 'fr', 2]);
    const [found] = (await profiles.find({ slug: ada.slug }).explain('executionStats')).stages;
    const { totalKeysExamined, totalDocsExamined } = found.$cursor.executionStats;
    expect([totalKeysExamined, totalDocsExamined]).toEqual([1, 1]);
  });

  test('the view of members finds one of them by index', async () => {
    const ada = await register(app);
    for (const _ of [1, 2, 3]) await addMember(app, ada.token);
    const profiles = app.db.collection('member_profiles');
    const filter = { organization_id: ada.organizationId, user_id: { $in: [ada.userId] } };
    const [found] = await profiles.find(filter).toArray();
    expect(found).toEqual({
      ...{ organization_id: ada.organizationId, user_id: ada.userId, department: null },
      ...{ name: expect.any(String), joined_at: expect.any(Date) },
    });
    const explained = JSON.stringify(await profiles.find(filter).explain('executionStats'));
    const examined = [...explained.matchAll(/"totalDocsExamined":(\d+)/g)].map(([, count]) => Number(count));
    expect(Math.max(...examined)).toBe(1);
  });
});
