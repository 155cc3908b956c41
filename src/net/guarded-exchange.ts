import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

const MAX_HEADER_BYTES = 16_384;
const BODY_BUFFER_BYTES = 65_536;
const USER_AGENT = 'shim-gateway';

/** Bounds of one exchange, in milliseconds: name, TCP and TLS together; head of the answer; each silence in its body. */
export interface ExchangeLimits {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly idleMs: number;
}

/** What is asked. */
export interface GuardedRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Ends the exchange at any stage, the body included. */
  readonly signal: AbortSignal;
  readonly limits: ExchangeLimits;
}

/** An answer whose body is still to be read. `close()` must be called in the end; it drops the connection. */
export interface GuardedResponse {
  readonly status: number;
  /** By lower-case name; a list when the header came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  close(): void;
}

/**
 * One HTTP/1.1 request over a connection of its own, read at the pace of its consumer. Node's client, not undici's: version 7
 * of that ends the process when the far end closes while the consumer lags (nodejs/undici#5360).
 */
export async function exchangeOver(
  socket: Socket,
  url: URL,
  { method, headers, body, signal, limits }: GuardedRequest,
): Promise<GuardedResponse> {
  const sent = httpRequest({
    createConnection: () => socket,
    method,
    path: url.pathname + url.search,
    headers: { host: url.host, 'user-agent': USER_AGENT, ...headers },
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const close = (): void => {
    sent.destroy();
    socket.destroy();
  };
  const answered = answerTo(sent, signal);
  const timer = setTimeout(close, limits.headersMs);
  try {
    sent.end(body);
    const answer = await answered;
    const pieces = Readable.from(impatiently(answer, limits.idleMs), {
      objectMode: false,
      highWaterMark: BODY_BUFFER_BYTES,
    });
    pieces.on('error', ignore);
    return { status: answer.statusCode ?? 0, headers: headersOf(answer), body: pieces, close };
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The head of the answer. The signal breaks the request before it and the body after it. */
function answerTo(sent: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const stop = (): void => {
      const reason = signal.reason as Error;
      // First, or a body that only the end of the connection ends would look complete.
      answer?.destroy(reason);
      sent.destroy(reason);
    };
    sent.on('error', reject);
    sent.once('response', (response) => {
      answer = response.on('error', ignore);
      resolve(response);
    });
    sent.once('close', () => {
      signal.removeEventListener('abort', stop);
      // An upgrade nobody asked for closes without an error.
      reject(new Error('the connection closed'));
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** The body, given up when the far end is silent; the time a consumer takes does not count. */
async function* impatiently(answer: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => answer.destroy(new Error('the far end is silent')), idleMs);
  let timer = watch();
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      yield chunk;
      timer = watch();
    }
  } finally {
    clearTimeout(timer);
  }
}

function headersOf({ headersDistinct }: IncomingMessage): GuardedResponse['headers'] {
  const entries = Object.entries(headersDistinct).map(([name, values = []]) => {
    const [only] = values;
    return [name, values.length === 1 ? only : values] as const;
  });
  return Object.fromEntries(entries);
}

const ignore = (): void => undefined;
