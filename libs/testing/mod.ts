/** The public interface of the test library: real servers, services in this process and their users. */
export {
  auditRecorder,
  documentedEvents,
  noActor,
  recordedEvents,
  sortByEvent,
} from './audit-log.ts';
export { testBrowser } from './browser.ts';
export { type ConnectProxy, connectProxy } from './connect-proxy.ts';
export { countTurns, withTickClock } from './event-loop.ts';
export { retainedBufferBytes, retainedBytes } from './heap.ts';
export {
  type AnyJson,
  apiClient,
  type HttpClient,
  httpClient,
  listAll,
  must,
  requestOrThrow,
  type TestResponse,
} from './http-client.ts';
export { sendIdempotencyKeys } from './idempotency-keys.ts';
export { findOrInstallLibreOffice, printedText, printToPdf } from './libreoffice.ts';
export { readMetric, readSeries, type Series, sumSeries } from './metrics.ts';
export { type ProfiledCommand, profileCommands } from './mongo-profiler.ts';
export { type OtlpEndpoint, otlpEndpoint, type ReceivedSpan } from './otlp.ts';
export { type MongoReplicaSet, ownMongo } from './own-mongo.ts';
export { type PdfPage, readPdf } from './pdf.ts';
export { hasPendingWork } from './pending-work.ts';
export { closeServer, freePorts, listenLocally } from './ports.ts';
export { findTestProgram } from './program.ts';
export { ownRabbit, type TestRabbit, testRabbit } from './rabbit.ts';
export type { RabbitBroker } from './rabbit-broker.ts';
export { describeOutcome, runRounds, sendBoth } from './race-rounds.ts';
export { untilReady } from './readiness.ts';
export { type RetryingClient, retryingClient } from './retrying-client.ts';
export { secretScanner } from './secrets.ts';
export { securedMongo } from './secured-mongo.ts';
export { testMongo } from './servers.ts';
export { type TcpProxy, type Toxics, tcpProxy } from './tcp-proxy.ts';
export {
  addMember,
  type CreatedWebhook,
  createDocument,
  createWebhook,
  type Member,
  type Person,
  publishDocument,
  register,
  type SharedDocument,
  setPlan,
  shareDocument,
} from './tenant.ts';
export { opsToken, type TestApp, testApp } from './test-app.ts';
export { textCollector } from './text-collector.ts';
export { slowness, until, untilServed } from './until.ts';
export {
  type ReceivedRequest,
  type Reply,
  type Responder,
  type WebhookReceiver,
  webhookReceiver,
} from './webhook-receiver.ts';
