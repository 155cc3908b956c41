import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { EventLoopPacer } from '../../platform/fairness/event-loop-pacer.js';
import { READS_PER_ITERATION, UpstreamResponseHandler } from './upstream-response-handler.js';

const READ_BYTES = 64 * 1024;
const HEADERS = { 'transfer-encoding': 'chunked' };
const readPacer = () => new EventLoopPacer(READS_PER_ITERATION);
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
};

/** A connection on which all bytes of an answer have arrived. */
class ArrivedAnswer implements Dispatcher.DispatchController {
  readonly aborted = false;
  readonly reason = null;
  rawHeaders: Buffer[] | null = [];
  readonly rawTrailers = [];
  paused = false;
  receivedBytes = 0;
  private readonly exchange: UpstreamResponseHandler;

  constructor(
    pace: EventLoopPacer,
    private leftReads: number,
    private readonly readBytes = READ_BYTES,
    accountId = 'a',
  ) {
    this.exchange = new UpstreamResponseHandler(undefined, (error) => error, pace, { accountId });
    this.exchange.onRequestStart(this);
    this.exchange.onResponseStart(this, 200, HEADERS);
  }

  async read(onBytes: (bytes: number) => void = () => undefined): Promise<void> {
    const body = await this.body();
    body.on('data', ({ length }: Buffer) => {
      this.receivedBytes += length;
      onBytes(length);
    });
    this.give();
  }

  async body(): Promise<Readable> {
    return (await this.exchange.answered).body;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.give();
  }

  abort(): void {
    this.leftReads = 0;
  }

  give(): void {
    while (!this.paused && this.leftReads > 0) {
      this.leftReads -= 1;
      this.exchange.onResponseData(this, Buffer.alloc(this.readBytes));
    }
    if (this.leftReads === 0) this.exchange.onResponseEnd();
  }
}

it('many long responses together get two reads of a socket per iteration of the event loop, round-robin', async () => {
  const pace = readPacer();
  const answers = Array.from({ length: 50 }, () => new ArrivedAnswer(pace, 10));
  let ofTurnBytes = 0;
  await Promise.all(answers.map((answer) => answer.read((bytes) => (ofTurnBytes += bytes))));
  // Each gave its first bytes before it had to wait.
  const ofTurns: number[] = [];
  while (answers.some(({ receivedBytes }) => receivedBytes < 10 * READ_BYTES)) {
    await nextTurn();
    ofTurns.push(ofTurnBytes);
    ofTurnBytes = 0;
    const received = answers.map(({ receivedBytes }) => receivedBytes);
    expect(Math.max(...received) - Math.min(...received)).toBeLessThanOrEqual(2 * READ_BYTES);
  }
  expect(Math.max(...ofTurns.slice(1))).toBeLessThanOrEqual(2 * READ_BYTES);
});

it('an answer waits behind one of another account, and not behind all of them', async () => {
  const pace = readPacer();
  const crowd = Array.from({ length: 200 }, () => new ArrivedAnswer(pace, 10));
  await Promise.all(crowd.map((answer) => answer.read()));
  const other = new ArrivedAnswer(pace, 10, READ_BYTES, 'b');
  await other.read();
  await turns(20);
  expect(other.receivedBytes).toBe(10 * READ_BYTES);
});

it('a short response does not wait while long ones do', async () => {
  const pace = readPacer();
  const long = Array.from({ length: 50 }, () => new ArrivedAnswer(pace, 10));
  await Promise.all(long.map((answer) => answer.read()));
  const short = new ArrivedAnswer(pace, 3, 1_000);
  await short.read();
  // Listening begins in the next turn.
  await turns(2);
  expect(short.receivedBytes).toBe(3_000);
  expect(long.some(({ paused }) => paused)).toBe(true);
});

it('a single long response waits and loses nothing', async () => {
  const answer = new ArrivedAnswer(readPacer(), 100);
  await answer.read();
  expect(answer.paused).toBe(true);
  await turns(200);
  expect(answer.receivedBytes).toBe(100 * READ_BYTES);
});

it('a reader that pauses stops the connection at once, and nothing is kept for it', async () => {
  const answer = new ArrivedAnswer(readPacer(), 100, 1_000);
  const body = await answer.body();
  let receivedBytes = 0;
  body.on('data', ({ length }: Buffer) => {
    receivedBytes += length;
    body.pause();
  });
  await turns(1);
  answer.give();
  await turns(5);
  expect([receivedBytes, body.readableLength, answer.paused]).toEqual([1_000, 0, true]);
  body.resume();
  await turns(5);
  expect([receivedBytes, body.readableLength, answer.paused]).toEqual([2_000, 0, true]);
});

it('an answer does not keep its raw head, which keeps the first read of the connection', () => {
  expect(new ArrivedAnswer(readPacer(), 1).rawHeaders).toBeNull();
});
