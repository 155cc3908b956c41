import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ChatUpstreamHarness } from '../support/chat-upstream-harness.js';
import { errorOf, postJson } from '../support/http-answer.js';

/** About as many tokens. */
const WORDS = 600;

let harness: ChatUpstreamHarness;
beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
  harness.upstream.reply = refuse;
});
afterAll(() => harness.stop());

/** As OpenAI refuses a conversation that is too long. */
function refuse(response: ServerResponse): void {
  const error = {
    message: "This model's maximum context length is 1000 tokens.",
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

it.each([
  [
    'as one object',
    WORDS,
    false,
    /^input length and `max_tokens` exceed context limit: (\d+) \+ 900 > 1000,/,
  ],
  [
    'as a stream',
    WORDS,
    true,
    /^input length and `max_tokens` exceed context limit: (\d+) \+ 900 > 1000,/,
  ],
  ['that is too long alone', 2 * WORDS, false, /^prompt is too long: (\d+) tokens > 1000 maximum$/],
])(
  'a message that the vendor finds too long is told with its sizes: %s',
  async (_what, words, stream, sentence) => {
    const { headers, accountId } = await harness.gateway.account(50_000_000n);
    const answer = await postJson(`${harness.gateway.url}/v1/messages`, headers, {
      model: 'gen-5-mini',
      max_tokens: 900,
      stream,
      messages: [{ role: 'user', content: 'rain '.repeat(words) }],
    });
    const { message, code } = errorOf(answer);
    expect([answer.status, code]).toEqual([400, 'provider_rejected_request']);
    expect(message).toMatch(sentence);
    const prompt = Number(sentence.exec(message)?.[1]);
    expect(Math.abs(prompt - words)).toBeLessThan(words / 10);
    expect(await harness.gateway.balance(accountId)).toMatchObject({
      held: 0n,
      available: 50_000_000n,
    });
  },
);
