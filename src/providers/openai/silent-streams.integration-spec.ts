import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InternalAxiosRequestConfig } from 'axios';
import { chatCommand } from '../../../test/support/chat-command.js';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { HttpTransport } from '../http/http-transport.js';
import { UPSTREAM_TIMEOUTS } from '../http/upstream-timeouts.js';
import type { ChatPort } from '../ports/chat.port.js';
import type { UpstreamTerms } from '../ports/attempt.js';
import { openAiPorts } from './openai-ports.js';

/** A row's limit, so that no test waits for minutes. */
const SHORT_MS = 1_000;
/** Signs of life in a stream come this often. */
const PING_MS = 100;
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const COMMAND = chatCommand({ messages: MESSAGES }, 9);
const choice = { index: 0, delta: { content: 'Hi' } };
const CHUNK = `data: ${JSON.stringify({ choices: [choice] })}\n\n`;

let stub: StubUpstream;
let transport: HttpTransport;
let chat: ChatPort;
/** The limits of the requests that were sent, in milliseconds: before the head, and between two reads of the body. */
let limits: unknown[];

beforeAll(() => {
  transport = new HttpTransport();
  transport.axios.interceptors.request.use((config) => {
    const { timeout, idleTimeoutMs } = config as InternalAxiosRequestConfig & {
      idleTimeoutMs?: number;
    };
    limits.push([timeout, idleTimeoutMs]);
    return config;
  });
});
beforeEach(async () => {
  limits = [];
  stub = await StubUpstream.start();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k', transport };
  chat = openAiPorts({ ...access, clock: new SystemClock() }).chat!;
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

async function read(terms?: UpstreamTerms): Promise<number> {
  const context = { upstreamModel: 'm', terms, signal: new AbortController().signal };
  const { body } = await chat.stream(COMMAND, context);
  const chunks: unknown[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks.length;
}
const short = { timeoutMs: SHORT_MS };
const begins = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('the silence that a stream may keep', () => {
  it("is that of chat, before its head and between its chunks, or the row's timeout_ms", async () => {
    stub.reply = (response) => begins(response).end(`${CHUNK}data: [DONE]\n\n`);
    await read();
    await read({ timeoutMs: 1_800_000 });
    const { headMs, idleMs } = UPSTREAM_TIMEOUTS.chat;
    expect([headMs, idleMs]).toEqual([600_000, 600_000]);
    expect(limits).toEqual([
      [headMs, idleMs],
      [1_800_000, 1_800_000],
    ]);
  });

  it.each([
    ['before its head', () => undefined],
    [
      'after its head',
      (response: ServerResponse) => {
        begins(response).flushHeaders();
      },
    ],
    ['after its first chunk', (response: ServerResponse) => begins(response).write(CHUNK)],
  ])('is a timeout when it is longer %s', async (_where, reply) => {
    stub.reply = reply;
    await expect(read(short)).rejects.toMatchObject({ kind: 'timeout', sent: true });
  });

  it.each([
    ['comments', ': PROCESSING\n\n'],
    ['pings', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['chunks without a choice', 'data: {"choices":[]}\n\n'],
    ['empty lines', '\n'],
  ])('does not end the stream while %s arrive, for three times its limit', async (_what, sign) => {
    stub.reply = async (response) => {
      begins(response);
      for (let ms = 0; ms < 3 * SHORT_MS; ms += PING_MS) {
        response.write(sign);
        await sleep(PING_MS);
      }
      response.end(`${CHUNK}data: [DONE]\n\n`);
    };
    expect(await read(short)).toBe(1);
  });
});
