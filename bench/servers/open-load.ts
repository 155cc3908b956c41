import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverUrl } from './load.js';

const TICK_MS = 2;
/** Connections, opened before the load. When all are in use, requests wait, and that counts as time of their answers. */
const CONNECTIONS = 2_000;
const OPENED_PER_TICK = 4;
const LAST_ANSWERS_MS = 30_000;

/** One answer of an open load. Times are milliseconds since its start. */
export interface OpenAnswer {
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** When it was due to be sent. What the load sends late counts as time of the answer. */
  readonly dueMs: number;
  readonly tookMs: number;
}

/** What an open load sends, and how often. */
export interface OpenLoadPlan {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  /** Used in turn. */
  readonly keys: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** Sends requests at a fixed rate, whether or not the earlier ones were answered, and waits for all answers. */
export async function openLoad(plan: OpenLoadPlan): Promise<readonly OpenAnswer[]> {
  const pool = new Pool(plan);
  await pool.open();
  const startedAt = performance.now();
  const count = Math.round(plan.perSecond * plan.seconds);
  for (let sent = 0; sent < count;) {
    const elapsedMs = performance.now() - startedAt;
    for (; sent < count && (sent * 1_000) / plan.perSecond <= elapsedMs; sent += 1) {
      pool.send(sent, (sent * 1_000) / plan.perSecond, startedAt);
    }
    await sleep(TICK_MS);
  }
  const answers = await pool.finished(count);
  pool.close();
  return answers;
}

interface Sent {
  readonly index: number;
  readonly dueMs: number;
  readonly startedAt: number;
  text: string;
}

/** Keep-alive connections. One request at a time is under way on each. */
class Pool {
  private readonly requests: readonly Buffer[];
  private readonly idle: Socket[] = [];
  private readonly all: Socket[] = [];
  private readonly waiting: Sent[] = [];
  private readonly answers: OpenAnswer[] = [];
  private failure: Error | undefined;

  constructor(private readonly plan: OpenLoadPlan) {
    const { path, body, keys } = plan;
    this.requests = keys.map((key) =>
      Buffer.from(
        [
          `POST ${path} HTTP/1.1`,
          `Host: ${new URL(serverUrl(plan, '')).host}`,
          `Authorization: Bearer ${key}`,
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(body)}`,
          '',
          body,
        ].join('\r\n'),
      ),
    );
  }

  async open(): Promise<void> {
    while (this.all.length < CONNECTIONS) {
      for (let count = 0; count < OPENED_PER_TICK; count += 1) this.connect();
      await sleep(TICK_MS);
    }
    while (this.idle.length < CONNECTIONS && !this.failure) await sleep(TICK_MS);
  }

  send(index: number, dueMs: number, startedAt: number): void {
    const sent = { index, dueMs, startedAt, text: '' };
    const socket = this.idle.pop();
    if (socket) this.write(socket, sent);
    else this.waiting.push(sent);
  }

  async finished(count: number): Promise<readonly OpenAnswer[]> {
    for (let waitedMs = 0; this.answers.length < count; waitedMs += 10) {
      if (this.failure) throw this.failure;
      if (waitedMs > LAST_ANSWERS_MS) throw new Error(`${this.answers.length} of ${count} answers`);
      await sleep(10);
    }
    return this.answers;
  }

  close(): void {
    for (const socket of this.all) socket.removeAllListeners('close').destroy();
  }

  private write(socket: Socket, sent: Sent): void {
    underWay.set(socket, sent);
    socket.write(this.requests[sent.index % this.requests.length] ?? '');
  }

  private connect(): void {
    const socket = connect(this.plan.port, '127.0.0.1').setNoDelay();
    socket.once('connect', () => this.idle.push(socket));
    socket.on('error', (error) => (this.failure = error));
    // A server may close a connection that was not used for a while. It is replaced.
    socket.on('close', () => {
      const at = this.idle.indexOf(socket);
      if (at < 0) this.failure ??= new Error('a connection was closed before its answer');
      else this.idle.splice(at, 1);
    });
    socket.on('data', (bytes: Buffer) => {
      this.take(socket, bytes);
    });
    this.all.push(socket);
  }

  private take(socket: Socket, bytes: Buffer): void {
    const sent = underWay.get(socket);
    if (sent === undefined) return;
    sent.text += bytes.toString('latin1');
    if (!isWhole(sent.text)) return;
    underWay.delete(socket);
    this.answers.push({
      status: Number(sent.text.slice(9, 12)),
      hasRetryAfter: /\r\nretry-after: \d/i.test(sent.text),
      dueMs: sent.dueMs,
      tookMs: performance.now() - sent.startedAt - sent.dueMs,
    });
    const next = this.waiting.shift();
    if (next) this.write(socket, next);
    else this.idle.push(socket);
  }
}

const underWay = new WeakMap<Socket, Sent>();

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end));
  return length ? text.length >= end + 4 + Number(length[1]) : text.endsWith('\r\n0\r\n\r\n');
}
