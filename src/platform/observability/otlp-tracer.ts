import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../common/time/spans.js';
import { GATEWAY_VERSION } from '../../common/version.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { loggableError } from './logger.js';
import type {
  SpanEnd,
  SpanExport,
  SpanFacts,
  SpanStart,
  TracedSpan,
  TracePlace,
} from './traced-span.js';

/** Spans that wait in memory; beyond this they are dropped. */
const MAX_WAITING_SPANS = 4_096;
const MAX_BATCH_SPANS = 512;
const BATCH_EVERY_MS = 2_000;
/** The collector's time to take a batch. */
const EXPORT_TIMEOUT_MS = 5_000;
/** The same for all that waits at the end of the process. */
const CLOSE_TIMEOUT_MS = 3_000;
const MAX_VALUE_CHARACTERS = 200;
const EXPORTS_AT_ONCE = 8;

/** Names of OpenTelemetry where it has one. Those for generative AI are still to be released, and in no package of it. */
const ATTRIBUTES: Readonly<Record<keyof SpanFacts, string>> = {
  method: ATTR_HTTP_REQUEST_METHOD,
  route: ATTR_HTTP_ROUTE,
  status: ATTR_HTTP_RESPONSE_STATUS_CODE,
  errorCode: 'shim.error.code',
  executionId: 'shim.execution.id',
  accountId: 'shim.account.id',
  taskId: 'shim.task.id',
  deliveryId: 'shim.delivery.id',
  model: 'shim.model',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  upstreamModel: 'gen_ai.request.model',
  responseId: 'gen_ai.response.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  heldMicroUsd: 'shim.held_microusd',
  chargedMicroUsd: 'shim.charged_microusd',
};

type OtlpSettings = Pick<GatewayConfig, 'otlpHeaders' | 'tracedShare' | 'otelServiceName'> & {
  readonly endpoint: string;
};

/** Sends spans to a collector with OpenTelemetry's own packages. Nothing is instrumented by itself: spans are made by calls. */
export class OtlpTracer implements SpanExport {
  private readonly ids = new ChosenIds();
  private readonly share: TraceIdRatioBasedSampler;
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;

  constructor(
    { endpoint, otlpHeaders, tracedShare, otelServiceName }: OtlpSettings,
    logger: Logger,
  ) {
    this.share = new TraceIdRatioBasedSampler(tracedShare);
    const exporter = new LoggingExporter(logger, {
      url: `${endpoint}/v1/traces`,
      timeoutMillis: EXPORT_TIMEOUT_MS,
      concurrencyLimit: EXPORTS_AT_ONCE,
      ...(otlpHeaders && { headers: { ...otlpHeaders } }),
    });
    const processor = new BatchSpanProcessor(exporter, {
      maxQueueSize: MAX_WAITING_SPANS,
      maxExportBatchSize: MAX_BATCH_SPANS,
      scheduledDelayMillis: BATCH_EVERY_MS,
      // The exporter gives up first, so that its fault is told.
      exportTimeoutMillis: 2 * EXPORT_TIMEOUT_MS,
    });
    this.provider = new BasicTracerProvider({
      // Whether a trace is sampled is decided before its first span: the others cost nothing.
      sampler: new AlwaysOnSampler(),
      idGenerator: this.ids,
      resource: resourceFromAttributes({
        [ATTR_SERVICE_NAME]: otelServiceName,
        [ATTR_SERVICE_VERSION]: GATEWAY_VERSION,
        'host.name': hostname(),
        'process.pid': process.pid,
      }),
      spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARACTERS },
      spanProcessors: [processor],
    });
    this.tracer = this.provider.getTracer('shim-gateway', GATEWAY_VERSION);
  }

  begin(name: string, place: TracePlace): TracedSpan | undefined {
    const { traceId, parentId, link } = place;
    if (!(place.isSampled ?? this.isInShare(traceId))) return undefined;
    const above =
      parentId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId,
            spanId: parentId,
            traceFlags: TraceFlags.SAMPLED,
            isRemote: true,
          });
    const links = link instanceof OtlpSpan ? [{ context: link.span.spanContext() }] : [];
    this.ids.next = place;
    try {
      const span = this.tracer.startSpan(name, { ...optionsOf(place), links }, above);
      return new OtlpSpan(this.tracer, span);
    } finally {
      this.ids.next = undefined;
    }
  }

  async close(): Promise<void> {
    const patience = new AbortController();
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { signal: patience.signal });
    // The exporter has told its faults.
    const ended = this.provider.shutdown().catch(() => undefined);
    await Promise.race([ended, late.catch(() => undefined)]);
    patience.abort();
  }

  private isInShare(traceId: string): boolean {
    const { decision } = this.share.shouldSample(ROOT_CONTEXT, traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }
}

class OtlpSpan implements TracedSpan {
  constructor(
    private readonly tracer: Tracer,
    readonly span: Span,
  ) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get traceParent(): string {
    const { traceId, spanId } = this.span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  child(name: string, start: SpanStart = {}): TracedSpan {
    const above = trace.setSpan(ROOT_CONTEXT, this.span);
    return new OtlpSpan(this.tracer, this.tracer.startSpan(name, optionsOf(start), above));
  }

  end({ name, atMs, facts, error }: SpanEnd = {}): void {
    const { span } = this;
    if (!span.isRecording()) return;
    if (name !== undefined) span.updateName(name);
    if (facts) span.setAttributes(attributesOf(facts));
    if (error !== undefined) {
      span.setAttribute(ATTR_ERROR_TYPE, error).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(atMs);
  }
}

/** The ids of the next span, where they are given. */
class ChosenIds {
  next: Pick<TracePlace, 'traceId' | 'spanId'> | undefined;
  private readonly random = new RandomIdGenerator();

  generateSpanId(): string {
    return this.next?.spanId ?? this.random.generateSpanId();
  }

  generateTraceId(): string {
    return this.next?.traceId ?? this.random.generateTraceId();
  }
}

type Exported = Parameters<OTLPTraceExporter['export']>;

/** Says once a minute that the collector does not take spans. They are lost; nothing waits for them. */
class LoggingExporter extends OTLPTraceExporter {
  private toldAtMs = -Infinity;

  constructor(
    private readonly logger: Logger,
    options: ConstructorParameters<typeof OTLPTraceExporter>[0],
  ) {
    super(options);
  }

  override export(spans: Exported[0], done: Exported[1]): void {
    super.export(spans, (result) => {
      if (result.error) this.tell(spans.length, result.error);
      done(result);
    });
  }

  private tell(lost: number, error: Error): void {
    const nowMs = performance.now();
    if (nowMs - this.toldAtMs < MINUTE_MS) return;
    this.toldAtMs = nowMs;
    const { type, message, code } = loggableError(error);
    this.logger.warn(
      { lost, cause: { type, message, code } },
      'traces are not taken by their collector',
    );
  }
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

function optionsOf({ kind, atMs, facts }: SpanStart) {
  return {
    kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
    ...(atMs !== undefined && { startTime: atMs }),
    ...(facts && { attributes: attributesOf(facts) }),
  };
}

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts) as [keyof SpanFacts, string | number][]) {
    if ((value as unknown) !== undefined) attributes[ATTRIBUTES[name]] = value;
  }
  return attributes;
}
