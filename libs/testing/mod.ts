/** The door of the testing library: real servers, a world of services, and people who use them. */
export { auditing, inOrder, type Listed, listedOf, listedOn, nobody } from './auditing.ts';
export { testBrowser } from './browser.ts';
export { type ConnectProxy, connectProxy } from './connect-proxy.ts';
export { printed } from './office.ts';
export { type OtlpEndpoint, otlpEndpoint, type ReceivedSpan } from './otlp.ts';
export { type Ailment, type MongoMember, type MongoServers, ownMongo } from './own-mongo.ts';
export { type Person, register } from './people.ts';
export { freePorts } from './ports.ts';
export { type Profiled, profiled } from './profiling.ts';
export { programFor } from './program.ts';
export { ownRabbit, type TestRabbit, testRabbit } from './rabbit.ts';
export type { RabbitBroker } from './rabbit-broker.ts';
export { type SecretWatch, secretWatch } from './secrets.ts';
export { securedMongo } from './secured-mongo.ts';
export { testMongo } from './servers.ts';
export { until } from './until.ts';
export { type Weather, type Wire, wireTo } from './wire.ts';
export { type Asked, opsToken, type Told, type World, world } from './world.ts';
