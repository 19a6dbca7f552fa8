/**
 * The organization over HTTP with a real MongoDB: its name, slug and settings, and what its neighbours see of
 * it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { documents } from '../documents/service.ts';
import { identity } from './service.ts';

let here: TestApp;

beforeAll(async () => {
  here = await testApp({ services: [identity, documents], contracts });
}, 60_000);
afterAll(() => here?.stop());

describe('the organization', () => {
  test('has settings that are merged by key', async () => {
    const ada = await register(here);
    const patch = (body: unknown) => here.request('PATCH', '/organization', { as: ada.token, body });
    const usual = (await here.request('GET', '/organization', { as: ada.key })).body;
    expect(usual.settings).toEqual({ lock_published: false, embed_origins: null });
    await patch({ settings: { lock_published: true } });
    const { body } = await patch({
      name: 'New name',
      settings: { embed_origins: ['https://intranet.example'] },
    });
    expect(body).toEqual({
      ...usual,
      name: 'New name',
      settings: { lock_published: true, embed_origins: ['https://intranet.example'] },
    });
    expect((await here.request('GET', '/organization', { as: ada.key })).body).toEqual(body);
    expect((await patch({ settings: { embed_origins: null } })).body.settings).toEqual({
      lock_published: true,
      embed_origins: null,
    });
  });

  test('nonsense in settings is named; nothing is changed', async () => {
    const ada = await register(here);
    const bad = {
      slug: 'A',
      settings: {
        lock_published: 1,
        colour: 'red',
        embed_origins: ['intranet', 'https://x.example/path', 'ftp://x'],
      },
    };
    const { status, body } = await here.request('PATCH', '/organization', { as: ada.token, body: bad });
    expect(status).toBe(400);
    const paths = body.errors.map(({ path }: { path: string }) => path);
    for (const at of [
      'slug',
      'settings/lock_published',
      'settings/colour',
      'settings/embed_origins/0',
      'settings/embed_origins/1',
      'settings/embed_origins/2',
    ])
      expect(paths).toContain(`body/${at}`);
    expect((await here.request('PATCH', '/organization', { as: ada.token, body: {} })).status).toBe(400);
    expect(
      (await here.request('PATCH', '/organization', { as: ada.token, body: { slug: 'embed' } })).status,
    ).toBe(400);
  });

  test('a slug that another has is 409', async () => {
    const [ada, bob] = await Promise.all([register(here), register(here)]);
    const taken = await here.request('PATCH', '/organization', { as: ada.token, body: { slug: bob.slug } });
    expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    const slug = `new-${newId().slice(-8)}`;
    expect((await here.request('PATCH', '/organization', { as: ada.token, body: { slug } })).body.slug).toBe(
      slug,
    );
  });

  test('its neighbours see its settings, whole, also where it set none; found by its slug in one step', async () => {
    const ada = await register(here);
    const profiles = here.db.collection('organization_profiles');
    const seen = async () => {
      const row = await profiles.findOne({ slug: ada.slug });
      return [row?.lock_published, row?.embed_origins, row?.row_version];
    };
    expect(await seen()).toEqual([false, null, 1]);
    const settings = { lock_published: true, embed_origins: ['https://intranet.example'] };
    await here.request('PATCH', '/organization', { as: ada.token, body: { settings } });
    expect(await seen()).toEqual([true, ['https://intranet.example'], 2]);
    const [found] = (await profiles.find({ slug: ada.slug }).explain('executionStats')).stages;
    const { totalKeysExamined, totalDocsExamined } = found.$cursor.executionStats;
    expect([totalKeysExamined, totalDocsExamined]).toEqual([1, 1]);
  });
});
