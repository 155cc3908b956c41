import type { IncomingHttpHeaders } from 'node:http';
import axios, {
  AxiosError,
  AxiosHeaders,
  type AxiosAdapter,
  type AxiosRequestConfig,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios';
import type { Dispatcher } from 'undici';
import { EventLoopPacer } from '../../platform/fairness/event-loop-pacer.js';
import { readBounded } from './response-body.js';
import {
  type ResponseHead,
  READS_PER_ITERATION,
  UpstreamResponseHandler,
} from './upstream-response-handler.js';

/** An axios request with the options of this adapter. */
export interface ExchangeConfig extends AxiosRequestConfig {
  /** Longest pause within the body, in milliseconds; 0 or absent: no limit. */
  idleTimeoutMs?: number;
  /** The account whose response shares the event loop with those of others. */
  accountId?: string | null | undefined;
  /** Asked before the first byte is written; where it is false, the request fails with the code {@link TOO_LATE} and is not sent. */
  maySend?: (() => boolean) | undefined;
  /** Maps an error that breaks a streamed body to the error that its reader gets. */
  bodyError?: (error: Error, headers: IncomingHttpHeaders) => Error;
}

type Config = InternalAxiosRequestConfig &
  Pick<ExchangeConfig, 'idleTimeoutMs' | 'accountId' | 'maySend' | 'bodyError'>;

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * An axios adapter over a pool of undici connections; it needs a third of the CPU of axios' own. Status, headers, body,
 * abort and errors are as with the stock HTTP adapter, but redirects are never followed and compression is never
 * requested. `timeout` bounds the wait for the head. A rejected request has its {@link UpstreamResponseHandler} in
 * `error.request`.
 */
export function undiciAdapter(dispatcher: Dispatcher): AxiosAdapter {
  const pacer = new EventLoopPacer(READS_PER_ITERATION);
  return async (config: Config) => {
    const url = new URL(
      config.baseURL || config.params ? axios.getUri(config) : (config.url ?? ''),
    );
    const signal = config.signal as AbortSignal | undefined;
    const bodyError = config.bodyError ?? ((error: Error) => error);
    const { accountId, maySend } = config;
    const owner = { accountId: accountId ?? '', maySend };
    const exchange = new UpstreamResponseHandler(signal, bodyError, pacer, owner);
    try {
      dispatcher.dispatch(dispatchOptions(config, url), exchange);
      const head = await exchange.answered;
      return settle(await toResponse(head, config, exchange));
    } catch (error) {
      if (error instanceof AxiosError || signal?.aborted) throw error;
      throw toAxiosError(error as Error, config, exchange);
    }
  };
}

function dispatchOptions(config: Config, url: URL): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: (config.method ?? 'get').toUpperCase(),
    headers: config.headers.toJSON(),
    body: bodyOf(config),
    headersTimeout: config.timeout ?? 0,
    bodyTimeout: config.idleTimeoutMs ?? 0,
  };
}

/** The request of a streamed response keeps its body until the end; a piece of Node's shared pool would keep the whole pool. */
function bodyOf({ data, responseType }: Config): string | Buffer | null {
  const body = (data as string | Buffer | null | undefined) ?? null;
  if (typeof body !== 'string' || responseType !== 'stream') return body;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body));
  bytes.write(body);
  return bytes;
}

async function toResponse(
  { status, statusText, headers, body }: ResponseHead,
  config: Config,
  request: UpstreamResponseHandler,
): Promise<AxiosResponse> {
  const data = config.responseType === 'stream' ? body : await readWhole(config, body);
  const responseHeaders = new AxiosHeaders(headers as Record<string, string>);
  return { data, status, statusText, headers: responseHeaders, config, request };
}

async function readWhole(config: Config, body: ResponseHead['body']): Promise<Buffer | string> {
  const limit = config.maxContentLength ?? NO_LIMIT;
  const bytes = await readBounded(body, limit < 0 ? NO_LIMIT : limit);
  return config.responseType === 'arraybuffer' ? bytes : bytes.toString('utf8');
}

function settle(response: AxiosResponse): AxiosResponse {
  const { config, status } = response;
  if (!config.validateStatus || config.validateStatus(status)) return response;
  throw new AxiosError(
    `Request failed with status code ${status}`,
    status < 500 ? AxiosError.ERR_BAD_REQUEST : AxiosError.ERR_BAD_RESPONSE,
    config,
    response.request,
    response,
  );
}

function toAxiosError(error: Error, config: Config, exchange: UpstreamResponseHandler): AxiosError {
  const { code } = error as NodeJS.ErrnoException;
  const isTimeout = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return AxiosError.from(error, isTimeout ? AxiosError.ECONNABORTED : code, config, exchange);
}
