import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pcmBytes, riffChunk, wavFormat, wavOf } from '../../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { servedBy, startStubSpeech } from '../../support/stub-speech.js';
import type { StubUpstream } from '../../support/stub-upstream.js';

/** Two seconds whose head says 24,348 s, as providers send it that write a file while they make it. */
const SAMPLES = pcmBytes(88_200, 44_100);
const PLACEHOLDER = 0x7fff_ffff;
const PLACED = wavOf([wavFormat({ rateHz: 44_100 }), riffChunk('data', SAMPLES, PLACEHOLDER)], {
  size: PLACEHOLDER,
});

let stub: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  stub = await startStubSpeech(PLACED);
  gateway = await startTestGateway(servedBy(stub));
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});

describe('a WAV whose provider does not know its length', () => {
  it.each([
    ['speech', { model: 'aud-v4', input: 'Hello', voice: 'Adam' }],
    ['dialogue', { model: 'aud-v4-dialogue', inputs: [{ text: 'Hello', voice: 'Adam' }] }],
  ])('has its true sizes in the answer of %s', async (path, fields) => {
    const body = { ...fields, response_format: 'wav' };
    const answer = await postJson(`${gateway.url}/v1/audio/${path}`, account.headers, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(answer.bytes.readUInt32LE(4)).toBe(answer.bytes.length - 8);
    expect(answer.bytes.readUInt32LE(40)).toBe(SAMPLES.length);
    expect(answer.bytes.subarray(44)).toEqual(SAMPLES);
  });

  it('that breaks off is a failure and free', async () => {
    const { accountId, headers } = await gateway.account();
    stub.reply = (response) => {
      response.write(PLACED.subarray(0, 10_000), () => response.destroy());
    };
    const body = { model: 'aud-v4', input: 'Hello', voice: 'Adam', response_format: 'wav' };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, body);
    expect(answer.status).toBe(502);
    expect(await gateway.balance(accountId)).toMatchObject({ available: 1_000_000_000n, held: 0n });
  });
});
