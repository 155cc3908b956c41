import { hostname } from 'node:os';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { CHARGE_HEADER } from '../http-server/responses/gateway-headers.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { traceIdOf } from '../../common/trace-parent.js';
import { redactText } from '../../common/secrets/redact-text.js';
import type { Metrics } from './metrics.js';
import type { TracedSpan } from './traced-span.js';
import type { Tracing } from './tracing.js';

const UNMATCHED = 'unmatched';
const INTERNAL_ERROR = 500;
/** Health and metrics are requested every few seconds, and their log lines contain no news. */
const PROBES = /^\/(health|metrics)(\/|$)/;
const SHOWN_SEGMENTS = 3;
const PLAIN_SEGMENT = /^(v\d|[a-z][a-z_-]{0,30})$/;

/** The error response of a request. The reason is its message, which has no secrets. */
export interface LoggedRefusal {
  readonly code: string;
  readonly param: string | null;
  /** Absent where a line of its own has it. */
  readonly reason?: string;
}

/** What providers did for a request: how long, how often, and the one that was asked last. */
interface LoggedUpstream {
  ms: number;
  attempts: number;
  provider: string;
  model: string;
  /** The provider's id of its answer. */
  requestId: string | null;
  /** From the admission of the call; null while nothing of a stream was sent. */
  firstByteMs: number | null;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** What providers did for this request. */
    upstream?: LoggedUpstream;
    /** The span of this request, if it is traced. */
    span?: TracedSpan;
    /** Whether a line about this request is logged at its end. */
    isLogged?: boolean;
    /** Why it was refused, for that line. */
    refusal?: LoggedRefusal;
  }
}

/**
 * Middleware: one log line, one observation and, if it is traced, one span per response. The line has method, route, status, durations, ids (the caller's
 * and that of its trace too), model, provider, charge, host and process, and the client's address (which a trusted proxy names).
 * That of a refused request also has code, param and reason. It never has headers,
 * query or bodies. Probes are logged at level debug, and not traced.
 */
export function requestLog(parent: Logger, metrics: Metrics, tracing: Tracing) {
  // Written once, not for each line.
  const logger = parent.child({ host: hostname(), process: process.pid });
  return (request: Request, response: Response, next: NextFunction): void => {
    const startNs = process.hrtime.bigint();
    request.isLogged = !PROBES.test(request.path);
    const span = request.isLogged ? spanOf(request, tracing) : undefined;
    response.on('close', () => {
      const seconds = Number(process.hrtime.bigint() - startNs) / 1e9;
      const route = routeOf(request);
      metrics.requests.inc({ method: request.method, route, status: response.statusCode });
      metrics.requestSeconds.observe({ method: request.method, route }, seconds);
      logger[request.isLogged === true ? 'info' : 'debug'](
        factsOf(request, response, route, seconds),
        'request',
      );
      if (span) endSpan(span, request, response, route);
    });
    next();
  };
}

function spanOf(request: Request, tracing: Tracing): TracedSpan | undefined {
  const span = tracing.request(request.executionId, request.traceParent);
  if (span) request.span = span;
  return span;
}

/** A refusal is the caller's fault; only ours is an error of the span. */
function endSpan(span: TracedSpan, request: Request, response: Response, route: string): void {
  const { method, admitted, refusal, traceParent } = request;
  const { statusCode: status } = response;
  const accountId = whoOf(request).account_id;
  // Else anybody could fill the queue of spans, whose own header says that they are sampled.
  if (accountId === undefined && traceParent !== undefined) return;
  span.end({
    name: `${method} ${route}`,
    facts: {
      method,
      route,
      status,
      executionId: toPublicId('exec', request.executionId),
      accountId,
      model: admitted?.row.id,
      errorCode: refusal?.code,
    },
    ...(status >= INTERNAL_ERROR && { error: refusal?.code ?? String(status) }),
  });
}

/** Absent values are left out of the line. */
function factsOf(
  request: Request,
  response: Response,
  route: string,
  seconds: number,
): Record<string, unknown> {
  const { admitted, upstream, refusal, traceParent, span } = request;
  return {
    execution_id: toPublicId('exec', request.executionId),
    client_request_id: request.clientRequestId,
    trace_id: traceParent ? traceIdOf(traceParent) : span?.traceId,
    method: request.method,
    route,
    path: route === UNMATCHED ? headOf(request.path) : undefined,
    status: response.statusCode,
    complete: response.writableFinished,
    address: request.ip,
    ...whoOf(request),
    model: admitted?.row.id,
    code: refusal?.code,
    param: refusal?.param ?? undefined,
    reason: refusal?.reason,
    charged_microusd: response.getHeader(CHARGE_HEADER),
    ...(upstream && upstreamFactsOf(upstream)),
    duration_ms: Math.round(seconds * 1e6) / 1e3,
  };
}

function upstreamFactsOf(upstream: LoggedUpstream) {
  return {
    provider: upstream.provider,
    upstream_model: upstream.model,
    provider_request_id: upstream.requestId ?? undefined,
    attempts: upstream.attempts,
    upstream_ms: Math.round(upstream.ms * 1e3) / 1e3,
    first_byte_ms: upstream.firstByteMs ?? undefined,
  };
}

/** Notes an attempt for the line of its request. */
export function logAttempt(
  request: Pick<Request, 'upstream'>,
  { provider, upstreamModel: model, durationMs, error }: LoggedAttempt,
): void {
  const { ms = 0, attempts = 0, firstByteMs = null } = request.upstream ?? {};
  request.upstream = {
    ms: ms + durationMs,
    attempts: attempts + 1,
    provider,
    model,
    requestId: error?.providerRequestId ?? null,
    firstByteMs,
  };
}

/** Notes the provider's id of its answer for the line of the request. */
export function logAnswer({ upstream }: Pick<Request, 'upstream'>, requestId: string | null): void {
  if (upstream) upstream.requestId = requestId ?? upstream.requestId;
}

interface LoggedAttempt {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly durationMs: number;
  readonly error?: { readonly providerRequestId: string | null };
}

function whoOf({ caller, linkHolder, sessionId }: Request) {
  const holder = caller ?? linkHolder;
  return {
    account_id: holder && toPublicId('acct', holder.accountId),
    api_key_id: caller && !caller.isWithoutKey ? toPublicId('key', caller.apiKeyId) : undefined,
    session_id: sessionId && toPublicId('ses', sessionId),
  };
}

/** The first segments of a path without a route. The rest may be anything, such as a prompt or a key. */
function headOf(path: string): string {
  const segments = path.split('/').slice(1);
  const shown = segments
    .slice(0, SHOWN_SEGMENTS)
    .map((segment) => (PLAIN_SEGMENT.test(segment) ? redactText(segment) : '…'));
  return `/${shown.join('/')}${segments.length > SHOWN_SEGMENTS ? '/…' : ''}`;
}

/** The pattern of the route, never the raw path: paths contain ids, and the number of metrics would have no bound. */
function routeOf(request: Request): string {
  const { route } = request as { route?: { path?: unknown } };
  return typeof route?.path === 'string' ? route.path : UNMATCHED;
}
