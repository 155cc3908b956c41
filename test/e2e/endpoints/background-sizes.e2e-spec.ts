import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BackgroundHarness } from '../../support/background-harness.js';
import { chunk, event, streams } from '../../support/chat-upstream-harness.js';

const STORED_BYTES = 20_000;
const USAGE = { prompt_tokens: 12, completion_tokens: 5_000, total_tokens: 5_012 };
const LARGE = streams(
  event(chunk('word '.repeat(5_000))),
  event(chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
  event(chunk('', { choices: [], usage: USAGE })),
  'data: [DONE]\n\n',
);

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start({ RESPONSES_MAX_BYTES_PER_ACCOUNT: String(STORED_BYTES) });
});
afterAll(() => desk.stop());

describe('an answer in the background that is too large to be stored', () => {
  it('is charged, because its provider is paid, and says so', async () => {
    desk.upstream.reply = LARGE;
    const { id } = await desk.made();
    const response = await desk.ended(id);
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'response_too_large' },
      output: [],
      usage: { input_tokens: 12, output_tokens: 5_000 },
    });
    // 12 tokens at 0.40 and 5,000 at 1.60 USD per million.
    expect(response.billing?.charged_microusd).toBe('8005');
    expect(await desk.taskOf(id)).toMatchObject({
      status: 'succeeded',
      charged_microusd: '8005',
      result: { response_id: id, status: 'failed' },
    });
  });
});
