import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MP3_HEAD } from '../support/stub-speech.js';

/** A text whose audio and a prompt whose stream exceed all buffers on the way to a reader. */
const LONG = 'a long one';
const LONG_BYTES = 12_000_000;
const CHUNK = Buffer.alloc(65_536);
const DRIP_MS = 1_000;
const LOOK_MS = 100;
/** Requests that a connection may send at once. */
const SENT_AHEAD = 5;
/** A provider that is busy must not close a connection on which a request is coming. */
const KEEP_ALIVE_MS = 30_000;

/** Which side is slow, and in what. */
export type SlowKind = 'headers' | 'body' | 'upload' | 'audio' | 'sse' | 'any' | 'answered';

/** Where slow sockets go. */
export interface SlowTarget {
  readonly port: number;
  /** Used in turn. */
  readonly keys: readonly string[];
}

/** A provider of speech and chat, on any port by default. Answers are short, or long if requested. */
export async function startLongProvider(port = 0): Promise<{ url: string; stop: () => void }> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      answer(response, Buffer.concat(pieces).toString(), request.url ?? '');
    });
  });
  await once(server.listen({ port, host: '127.0.0.1', backlog: 4_096 }), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(response: ServerResponse, body: string, url: string): void {
  const isChat = url.includes('chat');
  response.setHeader('content-type', isChat ? 'text/event-stream' : 'audio/mpeg');
  const event = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  // Text is a small part of a real event too; the gateway keeps it until it knows what it costs.
  const logprobs = { content: [{ token: 'a'.repeat(59_000), logprob: 0, top_logprobs: [] }] };
  const choice = { index: 0, delta: { content: 'a'.repeat(1_000) }, logprobs, finish_reason: null };
  const piece = isChat
    ? Buffer.from(`data: ${JSON.stringify({ ...event, choices: [choice] })}\n\n`)
    : CHUNK;
  const end = isChat ? 'data: [DONE]\n\n' : undefined;
  response.write(isChat ? piece : MP3_HEAD);
  if (!body.includes(LONG)) {
    response.end(end);
    return;
  }
  let left = LONG_BYTES;
  const more = (): void => {
    while (!response.destroyed && left > 0) {
      left -= piece.length;
      if (!response.write(piece)) return;
    }
    if (!response.writableEnded) response.end(end);
  };
  response.on('drain', more);
  more();
}

/** What a socket of each kind sends at first. Those that send slowly go on with one byte per second. */
function opening(kind: SlowKind, key: string): string {
  const head = (line: string, ...headers: string[]) =>
    [line, 'Host: shim', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  const json = (path: string, body: object) => {
    const text = JSON.stringify(body);
    const length = `Content-Length: ${text.length}`;
    return head(`POST ${path} HTTP/1.1`, 'Content-Type: application/json', length) + text;
  };
  const form = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
  switch (kind) {
    case 'headers':
      return 'GET /v1/models HTTP/1.1\r\nHost: shim\r\nX-Slow: ';
    case 'body':
      return head(
        'POST /v1/chat/completions HTTP/1.1',
        'Content-Type: application/json',
        'Content-Length: 100000',
      );
    case 'upload':
      return (
        head(
          'POST /v1/audio/isolation HTTP/1.1',
          'Content-Type: multipart/form-data; boundary=B',
          'Content-Length: 1000000',
        ) + form
      );
    case 'audio':
      return json('/v1/audio/speech', { model: 'aud-v4', input: LONG, voice: 'Adam' });
    case 'sse': {
      const messages = [{ role: 'user', content: LONG }];
      return json('/v1/chat/completions', { model: 'gen-5-mini', stream: true, messages });
    }
    case 'any':
      return head('GET /docs/swagger-ui-bundle.js HTTP/1.1').repeat(SENT_AHEAD);
    case 'answered':
      return head('GET /v1/account HTTP/1.1');
  }
}

const SENDERS: readonly SlowKind[] = ['headers', 'body', 'upload'];

/** Slow sockets of one kind. */
export class SlowSockets {
  private readonly sockets: Socket[] = [];
  private readonly endedAfterMs: number[] = [];

  private constructor(readonly kind: SlowKind) {}

  /** Opens them, a few at a time; from then on they are slow. */
  static async open(kind: SlowKind, count: number, { port, keys }: SlowTarget) {
    const slow = new SlowSockets(kind);
    for (let index = 0; index < count; index += 1) {
      slow.begin(port, opening(kind, keys[index % keys.length] ?? ''));
      if (index % 20 === 19) await sleep(10);
    }
    return slow;
  }

  /** How long the last of them lived, ms; undefined while one is open. */
  get lastEndedAfterMs(): number | undefined {
    const areOver = this.endedAfterMs.length === this.sockets.length;
    return areOver ? Math.max(...this.endedAfterMs) : undefined;
  }

  /** The ports of those that are open, on this machine. */
  get openPorts(): number[] {
    const open = this.sockets.filter(({ closed }) => !closed);
    return open.flatMap(({ localPort }) => localPort ?? []);
  }

  /** As {@link lastEndedAfterMs}, once it is known; throws when any lives longer than `limitMs`. */
  async ended(limitMs: number): Promise<number> {
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += LOOK_MS) {
      if (this.lastEndedAfterMs !== undefined) return this.lastEndedAfterMs;
      await sleep(LOOK_MS);
    }
    const open = this.sockets.length - this.endedAfterMs.length;
    for (const socket of this.sockets) socket.destroy();
    throw new Error(`${open} sockets of kind ${this.kind} live longer than ${limitMs} ms`);
  }

  private begin(port: number, text: string): void {
    const socket = connect(port, '127.0.0.1');
    const startedMs = performance.now();
    this.sockets.push(socket);
    socket.on('error', () => undefined).write(text, 'latin1');
    const sends = SENDERS.includes(this.kind);
    // A slow reader notices the end only by reading, so it tries whether it can still write.
    if (sends) socket.resume();
    else socket.pause();
    const drip = setInterval(() => socket.write(sends ? 'a' : '\r\n'), DRIP_MS);
    socket.once('close', () => {
      clearInterval(drip);
      this.endedAfterMs.push(performance.now() - startedMs);
    });
  }
}
