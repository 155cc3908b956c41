import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { ALIGNMENT, call } from '../../support/audio-operations.js';
import { startTestGateway } from '../../support/gateway.js';
import { formSeen } from '../../support/stub-provider.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

describe('POST /v1/audio/alignment', () => {
  it.each([1, 100_000])(
    'takes a text of %i code points at the same price (ALIGN-31, LIMIT-06)',
    async (length) => {
      const text = '\u{1f600}'.repeat(length);
      for (const send of [
        () => harness.call(ALIGNMENT, { text }),
        () => harness.postJson(ALIGNMENT, { text }),
      ]) {
        const { charged, seen } = await harness.charges(ALIGNMENT, send);
        expect(charged).toBe(920n);
        expect((await formSeen(seen)).fields).toEqual({ text });
      }
    },
  );

  it('accepts the longest text with every character escaped (ALIGN-31)', async () => {
    const escaped = '\\ud83d\\ude00'.repeat(100_000);
    const body = `{"model":"aud-forced-alignment","audio_url":"${harness.host.url}","text":"${escaped}"}`;
    const post = () =>
      fetch(harness.url(ALIGNMENT), {
        method: 'POST',
        headers: { ...harness.account.headers, 'content-type': 'application/json' },
        body,
      });
    expect((await post()).status).toBe(200);
  });

  it('refuses a text of 100,001 code points (ALIGN-32, LIMIT-06, G-35)', async () => {
    const text = 'x'.repeat(100_001);
    await harness.refusesField(ALIGNMENT, 'text', text);
    await harness.refused(() => harness.call(ALIGNMENT, { text }), 400, 'invalid_request', 'text');
  });

  it.each([undefined, null, '', '  \n', 5, ['a'], 'a\u0000b'])(
    'refuses the text %j (ALIGN-33)',
    async (text) => {
      await harness.refusesField(ALIGNMENT, 'text', text);
    },
  );

  it('returns every word with its position and loss, and its charge (ALIGN-34, ALIGN-35)', async () => {
    const { answer, charged } = await harness.charges(ALIGNMENT, () => harness.call(ALIGNMENT));
    expect(answer.json).toEqual({
      words: [{ text: 'Hi', start: 0, end: 0.4, loss: 0.1 }],
      loss: 0.2,
    });
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(charged.toString());
  });

  it('keeps the order of the recording and null for what is unknown (ALIGN-34)', async () => {
    const words = ['b', 'a', 'c'].map((text, at) => ({ text, start: at, end: null, loss: null }));
    harness.provider.reply = (response) => response.end(JSON.stringify({ words, characters: [] }));
    const { answer } = await harness.charges(ALIGNMENT, () => harness.call(ALIGNMENT));
    expect(answer.json).toEqual({ words, loss: null });
  });

  it.each(['diarize', 'language', 'timestamps', 'response_format'])(
    'refuses %s, which belongs to transcription (ALIGN-36)',
    async (field) => {
      await harness.refusesField(ALIGNMENT, field, 'en');
    },
  );

  it('finds every word of a text in a real recording', async () => {
    const gateway = await startTestGateway();
    const { headers } = await gateway.account(920n);
    const answer = await call(ALIGNMENT, gateway.url, headers, { text: 'One two three' });
    const { words } = answer.json as { words: { text: string; start: number; end: number }[] };
    expect(words.map(({ text }) => text)).toEqual(['One', 'two', 'three']);
    expect(words.at(-1)?.end).toBeCloseTo(10, 1);
    await gateway.expectCleanBooks();
    await gateway.stop();
  });
});
