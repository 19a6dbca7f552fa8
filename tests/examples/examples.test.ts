/**
 * Tests that the examples of the API reference are true: the requests succeed, and the responses are those of the
 * services. `UPDATE_EXAMPLES=true npx jest tests/examples` records them again; `npm run generate` then shows them.
 */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Examples, openapi } from '#libs/contract';
import { type TestApp, testApp, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { apiReference } from '../../services/api-reference.ts';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { createAliases } from './aliases.ts';
import { readDocumented } from './documented.ts';
import { createRecorder } from './recorder.ts';
import { runStory } from './story/story.ts';

const file = new URL('../../docs/contracts/examples.json', import.meta.url);
const isUpdate = process.env.UPDATE_EXAMPLES === 'true';
const committed = apiReference.examples;
const documented = readDocumented(openapi(contracts, apiReference));
const ids = contracts.flatMap(({ operations }) => operations.map(({ id }) => id));
const subscribable = contracts
  .flatMap(({ publishes }) => publishes)
  .filter((event) => event.subscribable)
  .map(({ name }) => name);

const environment = {
  APP_URL: 'https://sop.acme-foods.example',
  GUIDES_URL: 'https://sop.acme-foods.example/guides',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0',
};
let app: TestApp;
let receiver: WebhookReceiver;
let recorded: Examples;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    testApp({ services, contracts, environment }),
    webhookReceiver(() => 204),
  ]);
  const aliases = createAliases();
  const recorder = createRecorder(app, aliases, isUpdate ? undefined : documented.getRequest);
  const payloads = await runStory(recorder, receiver);
  const webhooks = Object.fromEntries(
    subscribable.map((name) => [name, aliases.toExample(payloads[name])] as const),
  );
  const operations = Object.fromEntries(ids.map((id) => [id, recorder.recorded[id] ?? []]));
  recorded = { operations, webhooks };
  if (isUpdate) {
    await writeFile(file, `${JSON.stringify(recorded, null, 2)}\n`);
    throw new Error('The examples are written. Run `npm run generate`, then these tests again.');
  }
});
afterAll(async () => {
  await app?.stop();
  await receiver?.close();
});

describe('the example of each operation', () => {
  test.each(ids)('%s is a request that succeeded with this response', (id) => {
    expect(recorded.operations[id]).not.toEqual([]);
    expect(recorded.operations[id]).toEqual(committed.operations[id]);
  });

  test.each(ids)('%s shows a response of each media type, except for files', (id) => {
    const missing = documented
      .getResponses(id)
      .filter(({ schema, example }) => example === undefined && schema.format !== 'binary');
    expect(missing.map(({ type }) => type)).toEqual([]);
  });
});

test.each(subscribable)('the example of the webhook %s is a request that was sent', (name) => {
  expect(recorded.webhooks[name]).toBeDefined();
  expect(recorded.webhooks[name]).toEqual(committed.webhooks[name]);
});

test('there are no examples of other operations and events', () => {
  expect(Object.keys(committed.operations)).toEqual(ids);
  expect(Object.keys(committed.webhooks)).toEqual(subscribable);
});
