import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pcmBytes, riffChunk, wavFormat, wavOf } from '../media/wav-file.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { postJson } from '../support/http-answer.js';
import { servedBy, startStubSpeech } from '../support/stub-speech.js';
import type { StubUpstream } from '../support/stub-upstream.js';

const SAMPLES = pcmBytes(8_000);
const WAV = wavOf([wavFormat(), riffChunk('data', SAMPLES)]);
const DEADLINE_MS = 1_000;
/** From the arrival of the request at the provider, which is later than the beginning of the call. */
const PAST_DEADLINE_MS = 1_200;
const CREDIT = 1_000_000n;
const SPEECH = { model: 'aud-v4', input: 'Hello', voice: 'Adam', response_format: 'wav' };

let stub: StubUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  stub = await startStubSpeech(WAV);
  gateway = await startTestGateway({
    ...servedBy(stub),
    CALL_DEADLINE_MS: String(DEADLINE_MS),
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});

/** Speech of a provider that sends the first `bytes` at once and the rest after the deadline of the call. */
async function speakLate(bytes: number) {
  stub.reply = (response) => {
    response.flushHeaders();
    if (bytes > 0) response.write(WAV.subarray(0, bytes));
    setTimeout(() => response.end(WAV.subarray(bytes)), PAST_DEADLINE_MS);
  };
  const { accountId, headers } = await gateway.account(CREDIT);
  const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, SPEECH);
  const { available, held } = await gateway.balance(accountId);
  return { answer, charged: CREDIT - available, held };
}

describe('a WAV that is held back when the deadline of its call passes', () => {
  it.each([44, 10_000])(
    'of which %i bytes had come is completed, sent and charged',
    async (bytes) => {
      const { answer, charged, held } = await speakLate(bytes);
      expect(answer.status).toBe(200);
      expect(answer.bytes.equals(WAV)).toBe(true);
      expect({ held, charged: String(charged) }).toEqual({
        held: 0n,
        charged: answer.headers.get('x-gateway-charge-microusd'),
      });
    },
  );

  it('of which nothing had come is given up, and free', async () => {
    const { answer, charged, held } = await speakLate(0);
    expect(answer.status).toBe(502);
    expect(answer.json).toMatchObject({ error: { code: 'provider_timeout' } });
    expect({ charged, held }).toEqual({ charged: 0n, held: 0n });
  });
});
