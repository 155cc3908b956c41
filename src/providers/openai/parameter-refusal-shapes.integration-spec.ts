import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCommand } from '../../../test/support/chat-command.js';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { HttpTransport } from '../http/http-transport.js';
import { openAiPorts } from './openai-ports.js';

let stub: StubUpstream;
let transport: HttpTransport;
beforeAll(() => {
  transport = new HttpTransport(10_000);
});
beforeEach(async () => {
  stub = await StubUpstream.start();
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

const EVENT = { choices: [{ index: 0, finish_reason: 'stop', delta: { content: 'Hi' } }] };

/** What vendors write where they do not know a field: FastAPI (a list, a text), xAI, Gemini and others. */
const SHAPES: readonly (readonly [string, number, (field: string) => unknown])[] = [
  [
    "FastAPI's list",
    422,
    (field) => ({
      detail: [{ type: 'extra_forbidden', loc: ['body', field], msg: 'Extra input' }],
    }),
  ],
  [
    'words about the field that stands beside them',
    422,
    (field) => ({
      detail: [{ type: 'x', loc: ['body', field], msg: 'Extra inputs are not permitted' }],
    }),
  ],
  [
    'a message without the name',
    400,
    (field) => ({ error: { message: 'Unknown parameter', param: field } }),
  ],
  ["FastAPI's text", 400, (field) => ({ detail: `Unknown field ${field}` })],
  ['an error that is a text', 400, (field) => ({ error: `unknown parameter: ${field}` })],
  [
    'a code with hyphens',
    400,
    (field) => ({ code: 'invalid-argument', error: `Argument not supported: ${field}` }),
  ],
  ['a bare message', 422, (field) => ({ message: `'${field}' is unsupported`, request_id: 'r' })],
  [
    'a list of errors',
    400,
    (field) => [
      { error: { code: 400, message: `Unknown name "${field}"`, status: 'INVALID_ARGUMENT' } },
    ],
  ],
];

describe('a parameter that is refused by name', () => {
  it.each(SHAPES)('is understood in %s', async (_shape, status, words) => {
    const sent: Record<string, unknown>[] = [];
    stub.reply = (response, { body }) => {
      const fields = JSON.parse(body.toString()) as Record<string, unknown>;
      sent.push(fields);
      const refused = ['stream_options', 'max_tokens'].find((name) => name in fields);
      if (refused === undefined) response.end(`data: ${JSON.stringify(EVENT)}\n\ndata: [DONE]\n\n`);
      else response.writeHead(status).end(JSON.stringify(words(refused)));
    };
    const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k', transport };
    const { chat } = openAiPorts({ ...access, clock: new SystemClock() });
    const answer = await chat?.stream(
      chatCommand({ messages: [{ role: 'user', content: 'Hi' }] }, 9),
      { upstreamModel: 'm', signal: new AbortController().signal },
    );
    const chunks: unknown[] = [];
    for await (const chunk of answer?.body ?? []) chunks.push(chunk);
    expect(chunks).toHaveLength(1);
    expect(sent).toHaveLength(3);
    expect(sent.at(-1)).toMatchObject({ max_completion_tokens: 9 });
  });
});
