/** The story of the examples: an organization uses every operation once, in an order in which this makes sense. */
import type { WebhookReceiver } from '#libs/testing';
import type { Recorder } from '../recorder.ts';
import { invite, leave, readAuditLog, readReference, register, setUpOrganization } from './accounts.ts';
import { acknowledge, showPictureToReader } from './acknowledging.ts';
import {
  approve,
  assign,
  importFile,
  publish,
  publishOther,
  review,
  revise,
  showPicture,
  write,
} from './documents.ts';
import { createWebhook, inspectWebhook, listen } from './webhooks.ts';

/** Sends all example requests. Resolves with the payload of each event that the receiver got. */
export async function runStory(
  recorder: Recorder,
  receiver: WebhookReceiver,
): Promise<Record<string, unknown>> {
  await readReference(recorder);
  const { admin, key } = await register(recorder);
  const departmentId = await setUpOrganization(recorder, key);
  const other = await publishOther(recorder, key);
  const webhook = await createWebhook(recorder, key, receiver);
  const accounts = { admin, key, departmentId, ...(await invite(recorder, { admin })) };
  const document = await write(recorder, accounts);
  await assign(recorder, accounts, document);
  await approve(recorder, accounts, document);
  await publish(recorder, accounts, document);
  await acknowledge(recorder, accounts, document);
  await review(recorder, accounts, { doc_id: document, other });
  await showPictureToReader(recorder, accounts, await showPicture(recorder, accounts));
  await importFile(recorder, accounts);
  await revise(recorder, accounts, document);
  await recorder.prepare(key, 'PATCH', `/documents/${other}`, { version: '1.1' });
  await inspectWebhook(recorder, key, webhook);
  const payloads = webhook.payloads();
  await listen(recorder, key, other);
  await readAuditLog(recorder, accounts);
  await leave(recorder, accounts);
  return payloads;
}
