import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { type Answer, postJson } from '../../support/http-answer.js';
import { type QuoteAnswer, QuoteHarness } from '../../support/quote-harness.js';

const OF_THIS_PROTOCOL = 'gen-claude-like';
const OF_ANOTHER = 'gen-5';
const MAX_CHARS = 1024 * 1024;
const PATH = 'messages.1.content.0';
/** What a vendor has added to its answers, with fields that are known elsewhere. */
const BLOCK = {
  type: 'compaction',
  content: 'The caller likes rain.',
  mood: 'calm',
  cache_control: { type: 'ephemeral' },
};

let harness: QuoteHarness;

beforeAll(async () => {
  harness = await QuoteHarness.start();
});
afterAll(() => harness.stop());

const turns = (...blocks: object[]) => [
  { role: 'user', content: 'Say hello' },
  { role: 'assistant', content: blocks },
  { role: 'user', content: 'And now?' },
];
const post = (model: string, body: object, more: object = {}): Promise<Answer> =>
  postJson(
    `${harness.gateway.url}/v1/messages`,
    { ...harness.account.headers, ...more },
    { model, max_tokens: 100, ...body },
  );
const ignored = (answer: Answer) => answer.headers.get('x-gateway-ignored-fields');
const upstream = async () => (await harness.gateway.upstreamRequests())[0]?.body as JsonObject;

describe('a block of an earlier answer whose type is unknown', () => {
  it.each([false, true])(
    'goes back to a vendor of the protocol as it is: stream %s (G-107)',
    async (stream) => {
      const content = [BLOCK, { type: 'text', text: 'hello', mood: 'calm' }];
      const answer = await post(OF_THIS_PROTOCOL, { messages: turns(...content), stream });
      expect([answer.status, ignored(answer)]).toEqual([200, 'messages.1.content.1.mood']);
      const { messages } = await upstream();
      expect(messages).toMatchObject([{}, { content: [BLOCK, { type: 'text' }] }, {}]);
    },
  );

  it.each([false, true])(
    'is left out for a vendor of another protocol, and named: stream %s (G-107)',
    async (stream) => {
      const messages = turns(BLOCK, { type: 'text', text: 'hello' });
      const answer = await post(OF_ANOTHER, { messages, stream, speed: 'fast' });
      expect([answer.status, ignored(answer)]).toEqual([200, `speed, ${PATH}`]);
      expect(JSON.stringify(await upstream())).not.toMatch(/compaction|likes rain/);
    },
  );

  it('leaves no empty turn behind', async () => {
    expect((await post(OF_ANOTHER, { messages: turns(BLOCK) })).status).toBe(200);
    const roles = ((await upstream()).messages as JsonObject[]).map(({ role }) => role);
    expect(roles).toEqual(['user', 'user']);
  });

  it('is held with all its characters', async () => {
    const quoteOf = (block: object) => {
      const body = { model: OF_THIS_PROTOCOL, max_tokens: 100, messages: turns(block) };
      return harness.quote({ path: '/v1/messages', body });
    };
    const longer = { ...BLOCK, content: BLOCK.content + 'a'.repeat(100_000) };
    const [short, long] = [await quoteOf(BLOCK), await quoteOf(longer)];
    const tokens = ({ lines }: QuoteAnswer) => Number(lines[0]!.quantity);
    expect(tokens(long) - tokens(short)).toBe(100_000);
  });

  it.each<[string, object]>([
    ['an image', { result: { type: 'image', source: { type: 'text', data: 'A' } } }],
    ['a document', { result: [{ source: { type: 'base64', data: 'A' } }] }],
    ['a file', { result: { file_id: 'file_1' } }],
    ['a mark of another time', { result: { cache_control: { type: 'ephemeral', ttl: '1d' } } }],
    ['too many characters', { content: 'a'.repeat(MAX_CHARS) }],
  ])('is refused with what has no known price: %s', async (_what, fields) => {
    const answer = await post(OF_THIS_PROTOCOL, { messages: turns({ ...BLOCK, ...fields }) });
    expect([answer.status, answer.json]).toMatchObject([400, { error: { param: PATH } }]);
  });

  it('is refused where the caller wants nothing left out, and in the turn of a user (G-107)', async () => {
    const strict = { 'x-gateway-strict': 'true' };
    const messages = turns(BLOCK);
    for (const [answer, param] of [
      [await post(OF_THIS_PROTOCOL, { messages }, strict), PATH],
      [
        await post(OF_THIS_PROTOCOL, { messages: [{ role: 'user', content: [BLOCK] }] }),
        'messages.0.content.0.type',
      ],
      [await post(OF_THIS_PROTOCOL, { messages: turns({ type: 'tool_result' }) }), `${PATH}.type`],
      [await post(OF_THIS_PROTOCOL, { messages: turns({ type: 'A b' }) }), `${PATH}.type`],
    ] as const) {
      expect([answer.status, answer.json]).toMatchObject([400, { error: { param } }]);
    }
  });
});
