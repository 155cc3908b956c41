import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector reads it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where nothing is above it. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Ids of linked traces. */
  readonly links: readonly string[];
  /** 2: an error. */
  readonly status: number;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
}
interface SentSpan extends Omit<CollectedSpan, 'attributes' | 'links' | 'status' | 'parentSpanId'> {
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links?: readonly { readonly traceId: string }[];
  readonly status: { readonly code: number };
}
interface Batch {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** A real collector of OpenTelemetry on loopback, which takes OTLP over HTTP in JSON. */
export interface OtlpCollector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** All that was sent, with its headers. */
  readonly raw: string[];
  readonly headers: IncomingHttpHeaders[];
  /** How it answers from now on; undefined: it takes the spans. */
  react: ((response: ServerResponse) => void) | undefined;
  stop(): Promise<void>;
}

/** Starts one. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      collector.raw.push(`${request.url} ${JSON.stringify(request.headers)} ${text}`);
      collector.headers.push(request.headers);
      if (collector.react) {
        collector.react(response);
        return;
      }
      const { resourceSpans } = JSON.parse(text) as Batch;
      const scopes = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
      collector.spans.push(...scopes.flatMap(({ spans }) => spans.map(spanOf)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const collector: OtlpCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    raw: [],
    headers: [],
    react: undefined,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

function spanOf(span: SentSpan): CollectedSpan {
  const { traceId, spanId, parentSpanId = '', name, kind, attributes, links = [], status } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)])),
    links: links.map((link) => link.traceId),
    status: status.code,
  };
}

function valueOf({ stringValue, intValue, doubleValue }: Value): string | number {
  return stringValue ?? Number(intValue ?? doubleValue);
}
