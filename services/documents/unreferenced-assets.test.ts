/** Tests when assets without a reference are deleted, with a clock that tests move. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { assets as createAssets } from './store/assets.ts';
import { assetFiles, assets as assetRows, nodes } from './store/collections.ts';
import { createUnreferencedAssets } from './store/unreferenced-assets.ts';
import { type DocumentStores, openDocumentStores } from './testing/store-fixture.ts';
import { deleteUnreferencedAssets } from './unreferenced-assets.ts';

const hourMs = 3_600_000;
const day = 24 * hourMs;
