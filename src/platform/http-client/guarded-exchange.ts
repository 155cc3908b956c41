import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ProtocolFloodGuard } from './protocol-flood-guard.js';

const MAX_HEADER_BYTES = 16_384;
const BODY_BUFFER_BYTES = 65_536;
const USER_AGENT = 'shim-gateway';
const FLOOD = 'the server sent too much that is no body';

/**
 * Limits of one exchange, in milliseconds: name, TCP and TLS together; the head of the answer; each pause within its
 * body.
 */
export interface ExchangeLimits {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly idleMs: number;
}

/** The request of an exchange. */
export interface GuardedRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Ends the exchange at any stage, including its body. */
  readonly signal: AbortSignal;
  readonly limits: ExchangeLimits;
}

/** An answer whose body is not read yet. Callers have to call `close()` at the end; it closes the connection. */
export interface GuardedResponse {
  readonly status: number;
  /** By lower-case name; a list when the header was sent more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  close(): void;
}

/**
 * One HTTP/1.1 request over a connection of its own, read as fast as its reader takes it. It uses Node's client,
 * because version 7 of undici ends the process when the server closes while the reader lags (nodejs/undici#5360).
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
  }).on('error', ignore);
  const close = (): void => {
    sent.destroy();
    socket.destroy();
  };
  const overhead = new ProtocolFloodGuard();
  const answered = answerTo(sent, signal, overhead);
  const timer = setTimeout(close, limits.headersMs);
  try {
    sent.end(body);
    const answer = await answered;
    const pieces = Readable.from(impatiently(answer, limits.idleMs, overhead), {
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

/** The head of the answer. The signal and a flood break the request before it and the body after it. */
function answerTo(
  sent: ClientRequest,
  signal: AbortSignal,
  overhead: ProtocolFloodGuard,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const breakOff = (reason: Error): void => {
      // The answer is destroyed first. Otherwise a body without a length would look complete.
      answer?.destroy(reason);
      sent.destroy(reason);
    };
    const stop = (): void => {
      breakOff(signal.reason as Error);
    };
    // The client reads the bytes first, because it began to listen before.
    sent.once('socket', (socket) =>
      socket.on('data', (bytes: Buffer) => {
        overhead.received(bytes.length);
        if (overhead.isTooMuch(answer?.readableLength ?? 0)) breakOff(new Error(FLOOD));
      }),
    );
    sent.on('error', reject);
    sent.once('response', (response) => {
      answer = response.on('error', ignore);
      resolve(response);
    });
    sent.once('close', () => {
      signal.removeEventListener('abort', stop);
      // After an upgrade that was not requested, the connection closes without an error.
      reject(new Error('the connection closed'));
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** The body. It fails when the server sends nothing for too long; the time that the reader needs does not count. */
async function* impatiently(
  answer: IncomingMessage,
  idleMs: number,
  overhead: ProtocolFloodGuard,
): AsyncGenerator<Buffer> {
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => answer.destroy(new Error('the server sent nothing for too long')), idleMs);
  let timer = watch();
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      overhead.taken(chunk.length);
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
