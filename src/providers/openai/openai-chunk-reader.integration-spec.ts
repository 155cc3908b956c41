import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { seenOf } from '../../../test/support/chat-command.js';
import type { ChatEvent } from '../ports/chat.port.js';
import { ChatEventStream } from '../text/chat-event-stream.js';
import { OpenAiChunkReader } from './openai-chunk-reader.js';

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const hello = { choices: [{ delta: { content: 'Grüße 👋' } }] };

const USAGE_WAIT_MS = 50;
const end = (reason: unknown, index = 0) =>
  event({ choices: [{ index, delta: {}, finish_reason: reason }] });
const usageEvent = event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } });

function setUp(usageWaitMs = USAGE_WAIT_MS) {
  const source = new PassThrough();
  const fault = (code: string, why?: unknown) =>
    new Error(why === undefined ? code : `${code} ${JSON.stringify(why)}`);
  const stream = new ChatEventStream(source, new OpenAiChunkReader(), fault, usageWaitMs);
  const read = async (): Promise<ChatEvent[]> => {
    const chunks: ChatEvent[] = [];
    for await (const chunk of stream) chunks.push(chunk as ChatEvent);
    return chunks;
  };
  return { source, stream, read };
}

describe('a stream of chunks', () => {
  it('reads events that are split at any byte, also inside a character', async () => {
    const { source, read } = setUp();
    const bytes = Buffer.from(`${event(hello)}: comment\r\n\r\n${event(hello)}data: [DONE]\n\n`);
    for (const byte of bytes) source.write(Buffer.from([byte]));
    expect((await read()).map(({ native }) => native)).toEqual([hello, hello]);
  });

  it('reads the first event of a body that begins with a byte order mark, also one that is cut', async () => {
    const { source, read } = setUp();
    const bytes = Buffer.from(`\uFEFF${event(hello)}${event(hello)}data: [DONE]\n\n`);
    for (const byte of bytes) source.write(Buffer.from([byte]));
    expect((await read()).map(({ native }) => native)).toEqual([hello, hello]);
  });

  it('emits each chunk before the next has arrived', async () => {
    const { source, stream } = setUp();
    source.write(event(hello));
    await stream.firstEvent();
    expect(seenOf(stream.read() as ChatEvent)).toEqual({ native: hello, usage: null });
    source.write(event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }));
    await stream.firstEvent();
    expect(stream.read()).toMatchObject({ usage: { promptTokens: 1, completionTokens: 2 } });
  });

  it('ends at [DONE] and lets the rest of the body drain', async () => {
    const { source, read } = setUp();
    source.write(`${event(hello)}data: [DONE]\n\n${event({ late: true })}`);
    expect(await read()).toHaveLength(1);
    expect(source.destroyed).toBe(false);
  });

  it.each([
    ['a body that ends before [DONE]', '', 'stream_cut'],
    ['an event that is not JSON', 'data: oops\n\n', 'bad_chunk'],
    ['an event that nests too deep', `data: {"a":${deep(5_000)}}\n\n`, 'bad_chunk'],
    ['an event of more values than any', `data: {"a":[${'{},'.repeat(5_000)}0]}\n\n`, 'bad_chunk'],
    [
      'an event of more choices than any',
      event({ choices: Array.from({ length: 33 }, () => ({ delta: { content: 'a' } })) }),
      'bad_chunk',
    ],
    ['an error event', event({ error: { code: 'boom' } }), '"boom"'],
    ['an error event with a text', event({ error: 'overloaded', code: 529 }), '"overloaded"'],
    ['an event that is named error', `event: error\n${event({ message: 'no' })}`, '"no"'],
    ['an error in a list', event([{ error: { code: 429 } }]), '429'],
    ['an error of the framework', event({ detail: 'no such model' }), 'no such model'],
    ['an error in a choice', event({ choices: [{ error: { code: 502 } }] }), '502'],
    ['a choice that ends with an error', end('error'), 'error_event'],
    [
      'a status of its own beside its choices',
      event({ choices: [], base_resp: { status_code: 1027, status_msg: 'no' } }),
      '1027',
    ],
    ['an event without end', `data: ${'x'.repeat(1_400_000)}`, 'event_too_long'],
  ])('breaks on %s', async (_what, tail, message) => {
    const { source, read } = setUp();
    source.end(event(hello) + tail);
    await expect(read()).rejects.toThrow(message);
  });

  it('accepts an event of fifty tokens, each with the 20 likeliest alternatives', async () => {
    const { source, read } = setUp();
    const likely = { token: ' the', logprob: -1.2345678, bytes: [32, 116, 104] };
    const token = { ...likely, top_logprobs: Array.from({ length: 20 }, () => likely) };
    const content = Array.from({ length: 50 }, () => token);
    const answer = { choices: [{ delta: { content: ' the' }, logprobs: { content } }] };
    source.end(`${event(answer)}data: [DONE]\n\n`);
    expect((await read()).map(({ native }) => native)).toEqual([answer]);
  });

  it.each(['', '\n', '\r'])('treats %j as the end of the last line', async (end) => {
    const { source, read } = setUp();
    source.end(`${event(hello)}data: [DONE]${end}`);
    expect(await read()).toHaveLength(1);
  });

  it('reports only counts of tokens', async () => {
    const { source, read } = setUp();
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: -1 },
      completion_tokens_details: { reasoning_tokens: 0.5 },
    };
    source.end(`${event({ ...hello, usage })}data: [DONE]\n\n`);
    expect((await read())[0]?.usage).toEqual({
      promptTokens: 1,
      completionTokens: 2,
      cachedTokens: null,
      reasoningTokens: null,
    });
  });

  it('breaks when [DONE] comes before any chunk', async () => {
    const { source, stream } = setUp();
    source.write('data: [DONE]\n\n');
    await expect(stream.firstEvent()).rejects.toThrow('empty_stream');
  });

  it('stops reading while no chunk is consumed', async () => {
    const { source, stream } = setUp();
    source.write(event(hello).repeat(1_000));
    await stream.firstEvent();
    expect(source.isPaused()).toBe(true);
    stream.destroy();
    expect(source.destroyed).toBe(true);
  });

  it('reads no chunk ahead of a paused consumer, and resumes with it', async () => {
    const { source, stream } = setUp();
    const large = event({ choices: [{ delta: { content: 'a'.repeat(60_000) } }] });
    let taken = 0;
    stream.on('data', () => {
      taken += 1;
      stream.pause();
    });
    for (let sent = 1; sent <= 20; sent++) {
      source.write(large);
      await setImmediate();
      expect([taken, stream.readableLength, source.isPaused()]).toEqual([sent, 0, true]);
      stream.resume();
    }
    source.end('data: [DONE]\n\n');
    await once(stream, 'end');
  });

  describe('in which every choice has a finish reason', () => {
    it.each([
      ['ends', (source: PassThrough) => source.end()],
      ['is reset', (source: PassThrough) => source.destroy(new Error('ECONNRESET'))],
      ['hangs', () => undefined],
      ['goes on with junk', (source: PassThrough) => source.write('data: {oops\n\n')],
      ['goes on with an error', (source: PassThrough) => source.write(event({ error: 'late' }))],
      ['says [DONE] with blanks', (source: PassThrough) => source.write('data: [DONE] \n\n')],
    ])('is whole where the connection then %s', async (_what, then) => {
      const { source, read } = setUp();
      source.write(event(hello) + end('stop'));
      setTimeout(then, 5, source);
      expect(await read()).toHaveLength(2);
    });

    it('ends at its usage, and closes a connection that stays open', async () => {
      const { source, stream } = setUp(3_600_000);
      source.write(event(hello) + end('stop') + usageEvent);
      const seen: ChatEvent[] = [];
      for await (const chunk of stream) seen.push(chunk as ChatEvent);
      expect(seen.at(-1)?.usage).toMatchObject({ completionTokens: 2 });
      const other = setUp();
      other.source.write(event(hello) + end('stop') + usageEvent);
      expect(await other.read()).toHaveLength(3);
      await once(other.source, 'close');
    });

    it('waits for the usage while its consumer reads nothing', async () => {
      const { source, stream } = setUp(20);
      const seen: ChatEvent[] = [];
      stream.on('data', (chunk: ChatEvent) => {
        seen.push(chunk);
        if (seen.length < 3) stream.pause();
      });
      source.write(event(hello));
      source.write(end('stop'));
      source.write(usageEvent);
      const ended = once(stream, 'end');
      await sleep(100);
      stream.resume();
      await sleep(100);
      expect([seen.length, stream.readableEnded]).toEqual([2, false]);
      stream.resume();
      await ended;
      expect(seen.at(-1)?.usage).toMatchObject({ completionTokens: 2 });
    });

    it('is not complete while a choice has none', async () => {
      const { source, read } = setUp();
      source.end(event({ choices: [{ index: 1, delta: { content: 'b' } }] }) + end('stop'));
      await expect(read()).rejects.toThrow('stream_cut');
    });

    it.each(['', null])('is not complete if the finish reason is %j', async (reason) => {
      const { source, read } = setUp();
      source.end(event(hello) + end(reason));
      await expect(read()).rejects.toThrow('stream_cut');
    });
  });

  it('accepts [DONE] with white space around it', async () => {
    const { source, read } = setUp();
    source.end(`${event(hello)}data:  [DONE] \n\n`);
    expect(await read()).toHaveLength(1);
  });

  it('has its first chunk at the first choice: an error after chunks without one comes before it', async () => {
    const { source, stream } = setUp();
    stream.on('error', () => undefined);
    source.write(event({ choices: [], prompt_filter_results: [] }));
    source.write(event({ error: { code: 'boom' } }));
    await expect(stream.firstEvent()).rejects.toThrow('boom');
  });
});
