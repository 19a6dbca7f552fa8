/** A real OTLP/HTTP endpoint; decodes protobuf spans with OpenTelemetry's official definitions. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { closeServer, listenLocally } from './ports.ts';

/** A received span. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for a root span. */
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  durationMs: number;
  isError: boolean;
  attributes: Record<string, unknown>;
  /** The `service.name` of the process that sent the span. */
  process: string;
}

/** A running endpoint. */
export interface OtlpEndpoint {
  origin: string;
  /** All spans received so far. */
  spans(): readonly ReceivedSpan[];
  close(): Promise<void>;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

/** A decoded export request, as plain values. */
interface ExportTraceServiceRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: {
        traceId: Uint8Array;
        spanId: Uint8Array;
        parentSpanId: Uint8Array;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        status: { code: number } | null;
        attributes: KeyValue[];
      }[];
    }[];
  }[];
}

interface Definition {
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): ExportTraceServiceRequest;
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/** Starts an endpoint on a free loopback port. */
export async function otlpEndpoint(): Promise<OtlpEndpoint> {
  const received: ReceivedSpan[] = [];
  const definition = loadDefinition();
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const isTraces = incoming.method === 'POST' && incoming.url === '/v1/traces';
    if (!isTraces || incoming.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(400).end();
      return;
    }
    try {
      received.push(...parseSpans(definition, Buffer.concat(chunks)));
      // an empty ExportTraceServiceResponse is encoded as zero bytes
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  const port = await listenLocally(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    spans: () => received,
    close: () => closeServer(server),
  };
}

/** Loads the generated definitions of opentelemetry-proto. */
function loadDefinition(): Definition {
  // made by protobufjs; this is the last release that contains them
  const definitions = createRequire(import.meta.url)('otlp-definitions/build/src/generated/root.js');
  return definitions.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
}

function parseSpans(request: Definition, bytes: Uint8Array): ReceivedSpan[] {
  const exported = request.toObject(request.decode(bytes), { longs: String, defaults: true, arrays: true });
  return exported.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const process = String(toValues(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: toHex(span.traceId),
        spanId: toHex(span.spanId),
        parentSpanId: toHex(span.parentSpanId),
        name: span.name,
        kind: kinds[span.kind] ?? 'internal',
        durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        // STATUS_CODE_ERROR
        isError: span.status?.code === 2,
        attributes: toValues(span.attributes),
        process,
      })),
    );
  });
}

function toValues(attributes: readonly KeyValue[]): Record<string, unknown> {
  const plain = ({ stringValue, intValue, boolValue, doubleValue }: KeyValue['value']) =>
    stringValue || boolValue || doubleValue || Number(intValue);
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
