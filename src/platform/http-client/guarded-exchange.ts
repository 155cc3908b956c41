import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

const MAX_HEADER_BYTES = 16_384;
const BODY_BUFFER_BYTES = 65_536;
const USER_AGENT = 'shim-gateway';
const FLOOD = 'the server sent too much that is no body';
/** A server may always send this many bytes in addition to the response body. A head has at most an eighth of it. */
const FREE_BYTES = 131_072;
/** Body bytes that allow one more byte of protocol overhead, such as the sizes of chunks. */
const BODY_PER_OVERHEAD = 4;

/**
 * Limits of one request, in milliseconds: name resolution, TCP and TLS together; the head of the response; each pause
 * within its body.
 */
export interface RequestLimits {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly idleMs: number;
}

/** A request. */
export interface GuardedRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Aborts the request at any stage, including the response body. */
  readonly signal: AbortSignal;
  readonly limits: RequestLimits;
}

/** A response whose body is not read yet. Callers must call `close()` at the end; it closes the connection. */
export interface GuardedResponse {
  readonly status: number;
  /** By lower-case name; a list when the header was sent more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  close(): void;
}

/**
 * One HTTP/1.1 request over a connection of its own, with back-pressure. It uses Node's client, because version 7 of
 * undici ends the process when the server closes while the body is paused (nodejs/undici#5360).
 */
export async function requestOver(
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
  const answered = responseTo(sent, signal, overhead);
  const timer = setTimeout(close, limits.headersMs);
  try {
    sent.end(body);
    const response = await answered;
    const pieces = Readable.from(withIdleTimeout(response, limits.idleMs, overhead), {
      objectMode: false,
      highWaterMark: BODY_BUFFER_BYTES,
    });
    pieces.on('error', ignore);
    return { status: response.statusCode ?? 0, headers: headersOf(response), body: pieces, close };
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the head of the response. Before it, the signal or a flood aborts the request; after it, the body. */
function responseTo(
  sent: ClientRequest,
  signal: AbortSignal,
  overhead: ProtocolFloodGuard,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let begun: IncomingMessage | undefined;
    const breakOff = (reason: Error): void => {
      // The response is destroyed first. Otherwise a body without a length would look complete.
      begun?.destroy(reason);
      sent.destroy(reason);
    };
    const stop = (): void => {
      breakOff(signal.reason as Error);
    };
    // Node's client gets the bytes first, because its listener was added before.
    sent.once('socket', (socket) =>
      socket.on('data', (bytes: Buffer) => {
        overhead.received(bytes.length);
        if (overhead.isTooMuch(begun?.readableLength ?? 0)) breakOff(new Error(FLOOD));
      }),
    );
    sent.on('error', reject);
    sent.once('response', (response) => {
      begun = response.on('error', ignore);
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

/**
 * The body. It fails if the server sends nothing for too long; time in which the consumer does not read is not counted.
 */
async function* withIdleTimeout(
  response: IncomingMessage,
  idleMs: number,
  overhead: ProtocolFloodGuard,
): AsyncGenerator<Buffer> {
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => response.destroy(new Error('the server sent nothing for too long')), idleMs);
  let timer = watch();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      overhead.countBody(chunk.length);
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

/**
 * Counts bytes from a server that are not body: interim responses, empty lines, sizes and extensions of chunks. A line
 * of it costs as much CPU as a large piece of a body, so a server that sends nothing else could occupy the process.
 */
class ProtocolFloodGuard {
  private receivedBytes = 0;
  private takenBytes = 0;

  received(bytes: number): void {
    this.receivedBytes += bytes;
  }

  /** Counts body bytes that were read. */
  countBody(bytes: number): void {
    this.takenBytes += bytes;
  }

  /** `waitingBytes`: body bytes that were received but not read yet. */
  isTooMuch(waitingBytes: number): boolean {
    const bodyBytes = this.takenBytes + waitingBytes;
    const overheadBytes = this.receivedBytes - bodyBytes;
    return overheadBytes > FREE_BYTES + bodyBytes / BODY_PER_OVERHEAD;
  }
}
