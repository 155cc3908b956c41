import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Magic } from '../magic-inputs.js';

/** An answer that hangs is cut after this time. */
const MAX_HANG_MS = 600_000;
/**
 * The wait before a connection is cut. Clients lose what they have not read when it is cut, so this is their time to
 * read.
 */
const CUT_GRACE_MS = 50;
const MAX_SLOW_MS = 60_000;
const MAX_LATE_MS = 600_000;
/** With `slow` and the words that cut an answer, bodies are sent in pieces of at most this size. */
const PIECE_BYTES = 4096;

/** What the server has read of a request before the handler gets it. */
export interface ReadRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly magic: Magic;
  /** Aborted when the client leaves or the server closes. */
  readonly signal: AbortSignal;
}

/** One request and its answer. Magic inputs that spoil bodies take effect when it is sent. */
export class SandboxExchange {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly signal: AbortSignal;
  private obeyed: Magic;
  private readonly response: ServerResponse;
  private readonly request: IncomingMessage;

  constructor(read: ReadRequest) {
    this.request = read.request;
    this.response = read.response;
    this.requestId = read.requestId;
    this.params = read.params;
    this.query = read.query;
    this.body = read.body;
    this.obeyed = read.magic;
    this.signal = read.signal;
  }

  /** The magic inputs of this exchange: those of the request, unless {@link obey} has set others. */
  get magic(): Magic {
    return this.obeyed;
  }

  /** Replaces the magic inputs, for example by those with which a job was submitted. */
  obey(magic: Magic): void {
    this.obeyed = magic;
  }

  /** A request header, lower-case name. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Answers with JSON. */
  json(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body), 'utf8');
    return this.send(status, { 'content-type': 'application/json', ...headers }, bytes);
  }

  /** Answers with bytes, or with pieces of bytes while they are made, as fast as the client reads. */
  async send(
    status: number,
    headers: OutgoingHttpHeaders,
    body: Buffer | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    if (this.magic.has('lost-answer')) {
      this.destroy();
      return;
    }
    const lateMs = this.magic.number('late-answer', MAX_LATE_MS);
    if (lateMs !== undefined) await this.pause(lateMs);
    if (Buffer.isBuffer(body) && !this.isSpoiled) {
      this.response.writeHead(status, { ...headers, 'content-length': body.length });
      this.response.end(body);
      return;
    }
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
    for await (const piece of this.isSpoiled ? pieces(body) : toPieces(body)) {
      if (!(await this.write(piece))) return;
      if (this.magic.has('break-body')) {
        await this.cut();
        return;
      }
      if (this.magic.has('hang-body')) {
        await this.hang();
        return;
      }
      const pauseMs = this.magic.number('slow', MAX_SLOW_MS);
      if (pauseMs !== undefined) await this.pause(pauseMs);
    }
    this.response.end();
  }

  /** Waits, but ends when the client leaves. */
  async pause(delayMs: number): Promise<void> {
    await sleep(delayMs, undefined, { signal: this.signal }).catch(() => undefined);
  }

  /** Sends nothing until the client leaves or the time is up; then cuts the connection. */
  async hang(): Promise<void> {
    await this.pause(MAX_HANG_MS);
    this.destroy();
  }

  /** Cuts the connection after the client has had time to read what was sent. */
  async cut(): Promise<void> {
    await this.pause(CUT_GRACE_MS);
    this.destroy();
  }

  /** Cuts the connection at once. */
  destroy(): void {
    this.response.destroy();
  }

  private get isSpoiled(): boolean {
    return ['slow', 'break-body', 'hang-body'].some((name) => this.magic.has(name as 'slow'));
  }

  /** False when the client has left. */
  private async write(piece: Uint8Array): Promise<boolean> {
    if (this.signal.aborted) return false;
    if (this.response.write(piece)) return true;
    return once(this.response, 'drain', { signal: this.signal }).then(
      () => true,
      () => false,
    );
  }
}

async function* toPieces(body: Buffer | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (Buffer.isBuffer(body)) yield body;
  else yield* body;
}

/** The body in small pieces, so that a short body has a first piece and a rest too. */
async function* pieces(body: Buffer | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of toPieces(body)) {
    const size = Math.min(PIECE_BYTES, Math.ceil(chunk.length / 2));
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}
