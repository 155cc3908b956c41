import { trimTrailingSlashes, parseUrl } from '../../common/parse-url.js';
import { TRACE_PARENT_HEADER } from '../../common/trace-parent.js';
import { GATEWAY_VERSION } from '../../common/version.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AxiosError, type AxiosResponse } from 'axios';
import { readResponseJson, readErrorBody } from './response-body.js';
import { classifyError, kindOfTransportFault } from './error-classification.js';
import { carriesError } from './error-facts.js';
import { figuresOfBody, figuresOfHeaders } from './figures.js';
import { decodedBody } from './decoded-body.js';
import { UpstreamResponseHandler } from './upstream-response-handler.js';
import type { ExchangeConfig } from './undici-adapter.js';
import { jobWithoutKey } from './job-state.js';
import { asRequestId } from './json-fields.js';
import { type ProviderContext, withoutKey } from './provider-context.js';
import { ProviderError } from './provider-error.js';
import { queryText } from './request-body.js';
import type { UpstreamResponse, UpstreamRequest, WireProtocol } from './upstream-request.js';
import type { AttemptOwner } from '../ports/attempt.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';

/** Further attempts, made only while no connection was ever opened. */
const MAX_CONNECT_RETRIES = 2;
const CONNECT_RETRY_MS = 50;
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];
const PARTIAL = 206;
const EVERY_REQUEST = {
  // Without the header, a provider could choose any encoding. Responses that are encoded nevertheless are decoded.
  'accept-encoding': 'identity',
  'user-agent': `shim/${GATEWAY_VERSION}`,
};

/**
 * The HTTP client of one provider. Every failure is a {@link ProviderError}, with two exceptions: an aborted signal
 * rejects with its own reason, and an upload file that cannot be read with the error of the file system. A request that
 * may have been received is never repeated. Redirects are never followed.
 */
export class ProviderHttp {
  private readonly baseUrl: string;

  constructor(
    private readonly access: ProviderContext,
    private readonly protocol: WireProtocol,
  ) {
    this.baseUrl = trimTrailingSlashes(access.baseUrl);
  }

  /**
   * Sends the request and waits for the head of a 2xx response. A partial one is unusable, and so is one in an encoding
   * that cannot be read.
   */
  async request(request: UpstreamRequest): Promise<UpstreamResponse> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.attempt(request);
      } catch (error) {
        const neverOpened = error instanceof ProviderError && !error.sent;
        if (!neverOpened || attempt >= MAX_CONNECT_RETRIES) throw error;
        await sleep(CONNECT_RETRY_MS * 3 ** attempt * (0.5 + Math.random()));
        request.context.signal.throwIfAborted();
      }
    }
  }

  /**
   * Sends the request and reads the JSON object of a 2xx response of at most `limitBytes` and `maxValues` values (default:
   * a million). The response is unusable when it is no JSON object or when `read` returns undefined; where it says why, it
   * is that error. What a report about a job quotes of the provider's words is without the provider's key.
   */
  requestJson<T>(
    request: UpstreamRequest,
    limitBytes: number,
    read: (json: JsonObject, providerRequestId: string | null, status: number) => T | undefined,
    maxValues?: number,
  ): Promise<T> {
    const { bodyMs } = this.timeoutOf(request);
    const limits = { bytes: limitBytes, values: maxValues, bodyMs };
    return this.requestParsed(request, (body) => readResponseJson(body, limits), read);
  }

  /** {@link requestJson} with a parser of its own; undefined from it says that the body cannot be used. */
  async requestParsed<T>(
    request: UpstreamRequest,
    parse: (body: Readable) => Promise<unknown>,
    read: (json: JsonObject, providerRequestId: string | null, status: number) => T | undefined,
  ): Promise<T> {
    const response = await this.request(request);
    const json = await parse(response.body);
    const figures = isJsonObject(json) && figuresOfBody(json);
    if (figures) request.context.owner?.onFigures?.(figures);
    const result = isJsonObject(json)
      ? read(json, response.providerRequestId, response.status)
      : undefined;
    if (result === undefined) throw this.unusable(response, 'bad_json', json);
    return jobWithoutKey(this.access, result);
  }

  /**
   * The error for a 2xx response that cannot be used; closes its connection. A JSON body that explains the error, in a
   * general shape or in the protocol's own, is classified like one with an error status.
   */
  unusable(response: UpstreamResponse, code: string, body?: unknown): ProviderError {
    response.body.on('error', () => undefined).destroy();
    const named = this.protocol.ownErrors?.(response.status, body);
    const isNamed = (named?.kind ?? named?.status) !== undefined;
    if (isNamed || carriesError(body)) return this.errorOf(response, body, code);
    return new ProviderError('http_error', {
      provider: this.access.id,
      sent: true,
      upstreamStatus: response.status,
      upstreamCode: code,
      providerRequestId: response.providerRequestId,
    });
  }

  /** The error for a command that the provider cannot take, or not now, by the gateway's own code. Nothing is sent. */
  refusal(code: string, kind: 'rejected' | 'unavailable' = 'rejected', upstreamParam?: string) {
    return new ProviderError(kind, {
      provider: this.access.id,
      sent: false,
      upstreamCode: code,
      upstreamParam,
    });
  }

  /** The error for what an earlier answer of the provider says, which cannot be used. Nothing more is sent. */
  unusableAnswer(code: string, providerRequestId: string | null = null): ProviderError {
    const detail = { provider: this.access.id, sent: true, upstreamCode: code, providerRequestId };
    return new ProviderError('http_error', detail);
  }

  /** The error for work that the provider made and is paid for, of which nothing can be given: it is not asked for again. */
  lostWork(code: string, providerRequestId: string | null): ProviderError {
    return Object.assign(this.unusableAnswer(code, providerRequestId), { isPartial: true });
  }

  /** {@link unusable} for a response that should be a file; reads the body to find out why it is none. */
  async noFile(response: UpstreamResponse, code: string): Promise<ProviderError> {
    return this.unusable(response, code, await readErrorBody(response.body));
  }

  private async attempt(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { signal, owner } = request.context;
    signal.throwIfAborted();
    let raw: AxiosResponse<Readable>;
    try {
      raw = await this.access.transport.axios.request<Readable>(this.toConfig(request));
    } catch (error) {
      throw signal.aborted ? signal.reason : this.transportError(error);
    }
    reportBuffering(raw, owner);
    const { response, isReadable } = this.decoded(raw);
    if (response.status >= 200 && response.status < 300) {
      if (!isReadable || response.status === PARTIAL) throw this.unusable(response, 'not_whole');
      reportFigures(figuresOfHeaders(response.headers), owner);
      return response;
    }
    const redirectUrl = request.mayRedirect && this.redirectOf(this.urlOf(request), response);
    if (redirectUrl !== undefined) return { ...response, redirectUrl };
    throw await this.errorResponse(response, owner);
  }

  /** The response with its body decoded, if that is possible. */
  private decoded(raw: AxiosResponse<Readable>) {
    const headers = raw.headers as Record<string, unknown>;
    const { status, data } = raw;
    const providerRequestId = this.requestIdOf(headers);
    const plain: UpstreamResponse = { status, headers, providerRequestId, body: data };
    const body = decodedBody(data, headers['content-encoding'], () =>
      this.unusable(plain, 'bad_encoding'),
    );
    return { response: body ? { ...plain, body } : plain, isReadable: body !== undefined };
  }

  /** Null for an id that holds the key: some servers echo what they were sent. */
  private requestIdOf(headers: Readonly<Record<string, unknown>>): string | null {
    const told = REQUEST_ID_HEADERS.map((name) => headers[name]);
    const id = asRequestId(told.find((value) => value !== undefined));
    return id !== null && withoutKey(this.access, id) === id ? id : null;
  }

  /** The limits of a request of this kind for the model. */
  timeoutOf({ timeout, context: { terms } }: Pick<UpstreamRequest, 'timeout' | 'context'>) {
    return this.access.transport.timeoutOf(timeout, terms?.timeoutMs);
  }

  private urlOf({ origin = this.baseUrl, path }: UpstreamRequest): string {
    return origin + path;
  }

  private redirectOf(base: string, { status, headers }: UpstreamResponse): string | undefined {
    const { location } = headers;
    if (!REDIRECT_STATUSES.includes(status) || typeof location !== 'string') return undefined;
    return parseUrl(location, base)?.href;
  }

  private toConfig(request: UpstreamRequest): ExchangeConfig {
    const { headMs, idleMs } = this.timeoutOf(request);
    const { terms } = request.context;
    const { query } = request;
    const body = request.body?.written(query ? undefined : terms);
    return {
      method: request.method,
      url: this.urlOf(request) + (query ? queryText(terms, query) : ''),
      headers: Object.assign(
        Object.assign({ ...EVERY_REQUEST }, this.protocol.headers, request.headers),
        terms?.headers,
        traceOf(request.context),
        body?.headers,
      ),
      data: body?.data,
      signal: request.context.signal,
      timeout: headMs,
      idleTimeoutMs: idleMs,
      accountId: request.context.owner?.accountId,
      maySend: request.context.owner?.mayStillSend,
      bodyError: (error, headers) => this.faultOf(error, true, this.requestIdOf(headers)),
      ...this.access.transport.everyRequest,
    };
  }

  private transportError(error: unknown): unknown {
    if (!(error instanceof AxiosError)) return error;
    const { cause } = error;
    const exchange: unknown = error.request;
    // A file that cannot be read is a fault of the gateway, not of the provider.
    if (cause && 'path' in cause) return cause;
    return this.faultOf(
      error,
      exchange instanceof UpstreamResponseHandler ? exchange.sent : true,
      null,
    );
  }

  private faultOf(error: Error, sent: boolean, providerRequestId: string | null): ProviderError {
    const { code } = error as NodeJS.ErrnoException;
    return new ProviderError(kindOfTransportFault(sent, code), {
      provider: this.access.id,
      sent,
      upstreamCode: code,
      providerRequestId,
    });
  }

  /** What the provider bills for a failure is told as for a success. */
  private async errorResponse(
    response: UpstreamResponse,
    owner?: AttemptOwner,
  ): Promise<ProviderError> {
    const body = await readErrorBody(response.body, response.headers['content-type']);
    reportFigures(figuresOfHeaders(response.headers), owner);
    if (isJsonObject(body)) reportFigures(figuresOfBody(body), owner);
    return this.errorOf(response, body);
  }

  private errorOf(
    { status, headers, providerRequestId }: UpstreamResponse,
    body: unknown,
    fallbackCode?: string,
  ): ProviderError {
    const { clock, id } = this.access;
    const response = { status, headers, body };
    const finding = classifyError(response, clock.nowMs(), this.protocol.ownErrors);
    return new ProviderError(finding.kind, {
      provider: id,
      sent: true,
      upstreamStatus: finding.status,
      upstreamCode: withoutKey(this.access, finding.code) ?? fallbackCode,
      upstreamParam: withoutKey(this.access, finding.param),
      upstreamMessage: withoutKey(this.access, finding.message),
      providerRequestId,
      retryAfterSeconds: finding.retryAfterSeconds,
      isContentRefusal: finding.isContentRefusal,
    });
  }
}

/** Where the model's row asks for it, the caller's trace goes on at the provider. */
function traceOf({ terms, owner }: UpstreamRequest['context']) {
  const { traceParent } = owner ?? {};
  const isSent = terms?.sendsTraceParent === true && traceParent !== undefined;
  return isSent ? { [TRACE_PARENT_HEADER]: traceParent } : undefined;
}

function reportFigures(figures: ProviderFigures | undefined, owner?: AttemptOwner): void {
  if (figures) owner?.onFigures?.(figures);
}

/** If the connection cannot be paused, it is read at once, and the response waits in memory. */
function reportBuffering({ request, data }: AxiosResponse<Readable>, owner?: AttemptOwner): void {
  if (!(request as UpstreamResponseHandler).mayPause)
    owner?.onBuffering?.(() => data.readableLength);
}

/** In which vendors tell the id of a request, the usual ones first. */
const REQUEST_ID_HEADERS = 'request-id x-request-id dg-request-id trace-id x-fal-request-id'.split(
  ' ',
);
