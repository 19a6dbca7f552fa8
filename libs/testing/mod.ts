/** The public interface of the test library: real servers, services in this process and their users. */
export {
  auditRecorder,
  documentedEvents,
  type ListedAuditEvent,
  noActor,
  recordedEvents,
  sortByEvent,
} from './audit-log.ts';
export { testBrowser } from './browser.ts';
export { type ConnectProxy, connectProxy } from './connect-proxy.ts';
export { retainedBytes } from './heap.ts';
export { idempotencyHeader, sendIdempotencyKeys } from './idempotency-keys.ts';
export { printedText } from './libreoffice.ts';
export { type ProfiledCommand, profileCommands } from './mongo-profiler.ts';
export { type OtlpEndpoint, otlpEndpoint, type ReceivedSpan } from './otlp.ts';
export { type FailPoint, type MongoMember, type MongoReplicaSet, ownMongo } from './own-mongo.ts';
export { type Person, register } from './people.ts';
export { freePorts } from './ports.ts';
export { findTestProgram } from './program.ts';
export { ownRabbit, type TestRabbit, testRabbit } from './rabbit.ts';
export type { RabbitBroker } from './rabbit-broker.ts';
export { type SecretScanner, secretScanner } from './secrets.ts';
export { securedMongo } from './secured-mongo.ts';
export { testMongo } from './servers.ts';
export { type TcpProxy, type Toxics, tcpProxy } from './tcp-proxy.ts';
export { opsToken, type TestApp, type TestRequest, type TestResponse, testApp } from './test-app.ts';
export { until } from './until.ts';
