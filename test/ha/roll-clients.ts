import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEN_SECONDS } from '../support/audio-operations.js';
import type { Told } from './load.js';

const SPEECH = { model: 'aud-v4', input: 'Hello [[sandbox:instant]]', voice: 'Adam' };
/** About ten seconds of a stream. */
const STREAM = {
  model: 'gen-5',
  messages: [{ role: 'user', content: 'Why? [[sandbox:tokens=50]] [[sandbox:pace=200]]' }],
  stream: true,
};
const UPLOAD_PIECES = 20;
const UPLOAD_PIECE_MS = 200;
/** A request that lasts longer is a fault: a stream takes ten seconds, an upload four. */
const DEADLINE_MS = 90_000;

/** How many clients of each kind there are, and how long each pauses after an answer. */
const CLIENTS = {
  call: { count: 6, pauseMs: 60 },
  stream: { count: 4, pauseMs: 100 },
  upload: { count: 3, pauseMs: 100 },
  task: { count: 2, pauseMs: 400 },
} as const;
/** What a client does again and again. */
export type Kind = keyof typeof CLIENTS;

/** What callers were told: {@link Told}, and what is counted beyond that. */
export interface RollTold extends Told {
  readonly made: Record<Kind, number>;
  /** How long calls that succeeded took. */
  readonly callMs: number[];
  /** How often each status with its code, or each error of a connection, ended a request that is not whole. */
  readonly causes: Map<string, number>;
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

interface Whole {
  readonly status: number;
  readonly executionId: string;
  readonly bytes: Buffer;
}

/**
 * Clients that keep their connections and call, stream, upload and submit tasks at `url` until `end`. The prompt of each task begins
 * with a name of its own, `order N.`, and `webhook` is told its end.
 */
export function startRollClients(
  url: string,
  headers: Readonly<Record<string, string>>,
  webhook: string,
): { readonly told: RollTold; end(): Promise<void> } {
  const told: RollTold = {
    ...{ calls: [], tasks: [], refused: 0, broken: 0, strange: [], lastGoodMs: 0, longestGapMs: 0 },
    made: { call: 0, stream: 0, upload: 0, task: 0 },
    callMs: [],
    causes: new Map(),
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const run = { goesOn: true };
  const client = new RollClient(url, headers, webhook, agent, told);
  const all = (Object.keys(CLIENTS) as Kind[]).flatMap((kind) =>
    Array.from({ length: CLIENTS[kind].count }, async () => {
      while (run.goesOn) {
        await client.ask(kind);
        await sleep(CLIENTS[kind].pauseMs);
      }
    }),
  );
  return {
    told,
    async end() {
      run.goesOn = false;
      await Promise.all(all);
      agent.destroy();
    },
  };
}

class RollClient {
  private orders = 0;

  constructor(
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly webhook: string,
    private readonly agent: Agent,
    private readonly told: RollTold,
  ) {}

  /** Makes one request and notes how it ended. */
  async ask(kind: Kind): Promise<void> {
    const { told } = this;
    const beganMs = performance.now();
    try {
      const answer = await this.made(kind);
      if (isWhole(kind, answer)) {
        told.made[kind] += 1;
        if (kind === 'call') told.callMs.push(performance.now() - beganMs);
        if (kind === 'task') told.tasks.push(idIn(answer.bytes));
        else told.calls.push(answer.executionId);
        return;
      }
      if (answer.status === 200) told.broken += 1;
      else told.refused += 1;
      this.blame(kind, `${answer.status} ${causeIn(answer.bytes)}`);
    } catch (error) {
      told.broken += 1;
      this.blame(kind, (error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  private blame(kind: Kind, cause: string): void {
    const text = `${kind}: ${cause}`;
    this.told.causes.set(text, (this.told.causes.get(text) ?? 0) + 1);
  }

  private made(kind: Kind): Promise<Whole> {
    if (kind === 'call') return this.postJson('/v1/audio/speech', SPEECH);
    if (kind === 'stream') return this.postJson('/v1/chat/completions', STREAM);
    if (kind === 'upload') return this.upload();
    this.orders += 1;
    return this.postJson('/v1/videos', {
      model: 'vid-motion',
      prompt: `order ${this.orders}. [[sandbox:task-ms=2000]]`,
      seconds: '5',
      webhook: this.webhook,
    });
  }

  private postJson(path: string, body: object): Promise<Whole> {
    return this.post(path, 'application/json', [Buffer.from(JSON.stringify(body))], 0);
  }

  /** A form whose file arrives piece by piece. */
  private upload(): Promise<Whole> {
    const boundary = randomUUID();
    const form = Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\naud-transcribe-v2\r\n` +
          `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n` +
          'Content-Type: audio/wav\r\n\r\n',
      ),
      TEN_SECONDS,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const size = Math.ceil(form.length / UPLOAD_PIECES);
    const pieces = Array.from({ length: UPLOAD_PIECES }, (_none, index) =>
      form.subarray(index * size, (index + 1) * size),
    );
    const type = `multipart/form-data; boundary=${boundary}`;
    return this.post('/v1/audio/transcriptions', type, pieces, UPLOAD_PIECE_MS);
  }

  private async post(
    path: string,
    type: string,
    pieces: readonly Buffer[],
    pauseMs: number,
  ): Promise<Whole> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const request = httpRequest(this.url + path, {
      method: 'POST',
      agent: this.agent,
      headers: { ...this.headers, 'content-type': type, 'content-length': length },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    // Begun before the body is sent: an answer may come before its end, or the connection be lost.
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => undefined);
    request.on('error', () => undefined);
    for (const piece of pieces) {
      request.write(piece);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    request.end();
    const [answer] = await answered;
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const { 'x-gateway-execution-id': executionId } = answer.headers;
    return {
      status: answer.statusCode ?? 0,
      executionId: String(executionId),
      bytes: Buffer.concat(chunks),
    };
  }
}

/** Whether the whole of what was asked for came. */
function isWhole(kind: Kind, { status, bytes }: Whole): boolean {
  if (status !== 200) return false;
  if (kind === 'stream') return bytes.toString().trimEnd().endsWith('data: [DONE]');
  if (kind === 'call') return bytes.length > 1_000;
  return bytes.length > 2;
}

const idIn = (bytes: Buffer): string => (JSON.parse(bytes.toString()) as { id: string }).id;

/** What an error answer of the gateway says, or the first words of another one. */
function causeIn(bytes: Buffer): string {
  try {
    const { code, message } = (JSON.parse(bytes.toString()) as Refusal).error;
    return `${code}: ${message}`;
  } catch {
    return bytes.toString().replace(/\s+/g, ' ').slice(0, 80);
  }
}
