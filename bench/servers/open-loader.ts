import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../result.js';
import type { OpenAnswers, OpenLoadPlan } from './open-load.js';

const TICK_MS = 1;
/** Connections, opened before the load. When all are in use, requests wait, and that counts as time of their answers. */
const CONNECTIONS = 2_000;
const OPENED_PER_TICK = 4;
const LAST_ANSWERS_MS = 30_000;
/** No head of an answer is longer. */
const HEAD_BYTES = 2_048;
const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** A request and its answer as far as it has arrived. */
interface Exchange {
  readonly index: number;
  readonly dueMs: number;
  head: Buffer | undefined;
  status: number;
  hasRetryAfter: boolean;
  /** Bytes of the body to come; undefined until the head is whole, NaN for a body in chunks. */
  missingBytes: number | undefined;
}

/** A keep-alive connection. One request at a time is under way on it. */
interface Connection {
  readonly socket: Socket;
  exchange: Exchange | undefined;
}

/** Sends one plan, and records when each answer was whole. */
class OpenLoader {
  private readonly requests: readonly Buffer[];
  private readonly idle: Connection[] = [];
  private readonly all: Connection[] = [];
  private readonly waiting: Exchange[] = [];
  private readonly answers = {
    status: [] as number[],
    hasRetryAfter: [] as boolean[],
    dueMs: [] as number[],
    tookMs: [] as number[],
  };
  private readonly lateMs: number[] = [];
  private startedAt = 0;
  private failure: string | undefined;

  constructor(private readonly plan: OpenLoadPlan) {
    const { port, path, body, keys } = plan;
    this.requests = keys.map((key) =>
      Buffer.from(
        [
          `POST ${path} HTTP/1.1`,
          `Host: 127.0.0.1:${port}`,
          `Authorization: Bearer ${key}`,
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(body)}`,
          '',
          body,
        ].join('\r\n'),
      ),
    );
  }

  async run(): Promise<OpenAnswers> {
    await this.open();
    this.startedAt = performance.now();
    const before = process.cpuUsage();
    const { perSecond, seconds } = this.plan;
    const count = Math.round(perSecond * seconds);
    for (let sent = 0; sent < count;) {
      const elapsedMs = performance.now() - this.startedAt;
      for (; sent < count && (sent * 1_000) / perSecond <= elapsedMs; sent += 1) {
        const dueMs = (sent * 1_000) / perSecond;
        this.lateMs.push(elapsedMs - dueMs);
        this.send(sent, dueMs);
      }
      await sleep(TICK_MS);
    }
    const { user, system } = process.cpuUsage(before);
    const cpu = (user + system) / 1_000 / (performance.now() - this.startedAt);
    await this.finished(count);
    for (const { socket } of this.all) socket.removeAllListeners('close').destroy();
    const lateP99Ms = percentile(this.lateMs, 0.99);
    return { ...this.answers, lateP99Ms, cpu, ...(this.failure && { failure: this.failure }) };
  }

  private async open(): Promise<void> {
    while (this.all.length < CONNECTIONS) {
      for (let count = 0; count < OPENED_PER_TICK; count += 1) this.connect();
      await sleep(TICK_MS);
    }
    while (this.idle.length < CONNECTIONS && !this.failure) await sleep(TICK_MS);
  }

  private send(index: number, dueMs: number): void {
    const exchange: Exchange = {
      index,
      dueMs,
      head: undefined,
      status: 0,
      hasRetryAfter: false,
      missingBytes: undefined,
    };
    // The one that was used longest ago: the server cuts connections that send nothing for 10 s after they were opened.
    const connection = this.idle.shift();
    if (connection) this.write(connection, exchange);
    else this.waiting.push(exchange);
  }

  private async finished(count: number): Promise<void> {
    for (let waitedMs = 0; this.answers.status.length < count && !this.failure; waitedMs += 10) {
      if (waitedMs > LAST_ANSWERS_MS) {
        this.failure = `${this.answers.status.length} of ${count} answers`;
      }
      await sleep(10);
    }
  }

  private write(connection: Connection, exchange: Exchange): void {
    connection.exchange = exchange;
    connection.socket.write(this.requests[exchange.index % this.requests.length] ?? '');
  }

  private connect(): void {
    const socket = connect(this.plan.port, '127.0.0.1').setNoDelay();
    const connection: Connection = { socket, exchange: undefined };
    socket.once('connect', () => this.idle.push(connection));
    socket.on('error', (error) => (this.failure ??= error.message));
    // A server may close a connection that was not used for a while. It is not used again.
    socket.on('close', () => {
      const at = this.idle.indexOf(connection);
      if (at < 0) this.failure ??= 'a connection was closed before its answer';
      else this.idle.splice(at, 1);
    });
    socket.on('data', (bytes: Buffer) => {
      this.take(connection, bytes);
    });
    this.all.push(connection);
  }

  private take(connection: Connection, bytes: Buffer): void {
    const { exchange } = connection;
    if (exchange === undefined) return;
    if (exchange.missingBytes === undefined) readHead(exchange, bytes);
    else exchange.missingBytes -= bytes.length;
    if (exchange.missingBytes === undefined) return;
    if (Number.isNaN(exchange.missingBytes) ? !endsChunks(bytes) : exchange.missingBytes > 0)
      return;
    this.answers.status.push(exchange.status);
    this.answers.hasRetryAfter.push(exchange.hasRetryAfter);
    this.answers.dueMs.push(exchange.dueMs);
    this.answers.tookMs.push(performance.now() - this.startedAt - exchange.dueMs);
    connection.exchange = undefined;
    const next = this.waiting.shift();
    if (next) this.write(connection, next);
    else this.idle.push(connection);
  }
}

/** Reads the head once it is whole. */
function readHead(exchange: Exchange, bytes: Buffer): void {
  exchange.head = exchange.head ? Buffer.concat([exchange.head, bytes]) : bytes;
  const text = exchange.head.toString('latin1', 0, HEAD_BYTES);
  const end = text.indexOf(HEAD_END);
  if (end < 0) return;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  exchange.status = Number(text.slice(9, 12));
  exchange.hasRetryAfter = exchange.status !== 200 && /\r\nretry-after: \d/i.test(text);
  exchange.missingBytes =
    end + HEAD_END.length + Number(length ?? Number.NaN) - exchange.head.length;
  exchange.head = undefined;
}

/** Whether a piece ends a body in chunks. The server writes the last chunk at once. */
const endsChunks = (bytes: Buffer): boolean =>
  bytes.length >= LAST_CHUNK.length && LAST_CHUNK.equals(bytes.subarray(-LAST_CHUNK.length));

process.on('message', (plan: OpenLoadPlan) => {
  void new OpenLoader(plan).run().then((answers) => process.send?.(answers));
});
process.send?.('ready');
