import type { Logger } from 'pino';
import { toPublicId } from '../../common/ids/public-id.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import type { SpanExport, SpanFacts, TracedSpan, TracePlace } from './traced-span.js';

interface TracedDelivery {
  readonly id: string;
  readonly accountId: string;
  readonly ownerId: string;
  readonly event: string | null;
}

const TRACE_ID_END = 35;
const PARENT_ID_AT = 36;
const PARENT_ID_END = 52;
const FLAGS_AT = 53;
const SPAN_ID_CHARACTERS = 16;

/**
 * Begins the traces of this process. Without `OTEL_EXPORTER_OTLP_ENDPOINT`, and for the requests that are not sampled, there is no
 * span: whoever would end one has `undefined`, and nothing is paid for it.
 *
 * The trace of a request is its caller's, or has the id of the execution. Each task has a trace whose id is its own: so every
 * process finds the trace of a step or a webhook, and comes to the same decision about it, and nothing is stored for that.
 */
export class Tracing {
  constructor(private readonly spans?: SpanExport) {}

  /** The packages of OpenTelemetry are loaded only where there is a collector. */
  static async open(config: GatewayConfig, logger: Logger): Promise<Tracing> {
    const { otlpEndpoint: endpoint } = config;
    if (endpoint === undefined) return new Tracing();
    const { OtlpTracer } = await import('./otlp-tracer.js');
    return new Tracing(new OtlpTracer({ ...config, endpoint }, logger));
  }

  /** The span of a request. A valid `traceParent` says where it stands, and whether it is sampled. */
  request(executionId: string, traceParent: string | undefined): TracedSpan | undefined {
    if (this.spans === undefined) return undefined;
    const place = traceParent === undefined ? rootOf(executionId) : placeOf(traceParent);
    return this.spans.begin('request', { ...place, kind: 'server' });
  }

  /** The beginning of a task's trace, which is linked with the request that submitted it. */
  task(
    {
      id,
      accountId,
      model,
    }: { readonly id: string; readonly accountId: string; readonly model: string },
    link: TracedSpan | undefined,
  ): void {
    if (this.spans === undefined) return;
    const spanId = spanIdOf(id);
    const facts = {
      taskId: toPublicId('task', id),
      accountId: toPublicId('acct', accountId),
      model,
    };
    this.spans.begin('task', { ...rootOf(id), spanId, link, facts })?.end();
  }

  /** A span of a task's trace. The facts are asked for only where there may be one. */
  ofTask(
    id: string,
    name: string,
    factsOf: () => SpanFacts,
    kind?: 'client',
  ): TracedSpan | undefined {
    if (this.spans === undefined) return undefined;
    const place = { ...rootOf(id), parentId: spanIdOf(id), facts: factsOf() };
    return this.spans.begin(name, kind === undefined ? place : { ...place, kind });
  }

  /** An attempt to deliver: in the trace of its task; an event of an account has a trace of its own. */
  delivery({ id, accountId, ownerId, event }: TracedDelivery): TracedSpan | undefined {
    if (this.spans === undefined) return undefined;
    const facts = {
      deliveryId: toPublicId('whd', id),
      accountId: toPublicId('acct', accountId),
    };
    if (event !== null) {
      return this.spans.begin('webhook attempt', { ...rootOf(id), kind: 'client', facts });
    }
    const factsOf = () => ({ ...facts, taskId: toPublicId('task', ownerId) });
    return this.ofTask(ownerId, 'webhook attempt', factsOf, 'client');
  }

  /** Sends what waits, within a few seconds. */
  async close(): Promise<void> {
    await this.spans?.close();
  }
}

function rootOf(uuid: string): TracePlace {
  return { traceId: uuid.replaceAll('-', '') };
}

function spanIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').slice(-SPAN_ID_CHARACTERS);
}

function placeOf(traceParent: string): TracePlace {
  return {
    traceId: traceParent.slice(TRACE_ID_END - 2 * SPAN_ID_CHARACTERS, TRACE_ID_END),
    parentId: traceParent.slice(PARENT_ID_AT, PARENT_ID_END),
    isSampled: (parseInt(traceParent.slice(FLAGS_AT, FLAGS_AT + 2), 16) & 1) === 1,
  };
}
