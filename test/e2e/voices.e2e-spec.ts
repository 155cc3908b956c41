import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { VOICES } from '../../src/catalog/voices.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { expectRefused } from '../support/refusal.js';
import { INSTANT } from '../support/speech-purchase.js';

/** The table of the spec, written out: the gateway's own is what is under test. */
const SPEC_VOICES = `
  Adam pNInz6obpgDQGcFmaJgB, Alice Xb7hH8MSUJpSbSDYk0k2, Bella hpp4J3VqNfWAUOO0d1Us,
  Bill pqHfZKP75CvOlQylNhV4, Brian nPczCjzI2devNBz1zQrb, Callum N2lVS1w4EtoT3dr4eOWO,
  Charlie IKne3meq5aSn9XLyUdCD, Chris iP95p4xoKVk53GoZ742B, Daniel onwK4e9ZLuTAKqWW03F9,
  Eric cjVigY5qzO86Huf0OWal, George JBFqnCBsd6RMkjVDRZzb, Harry SOYHLrjzK2X1ezoPC6cr,
  Jessica cgSgspJ2msm6clMCkdW9, Laura FGY2WhTYpPnrIDTdsKH5, Liam TX3LPaxmHKxFdv7VOQHJ,
  Lily pFZP5JQG7iQjIQuC4Bku, Matilda XrExE9yKIg1WjnnlVkGX, River SAz9YHcvj6GT2YYXdXww,
  Roger CwhRBWXzGAHq8TQ4Fs17, Sarah EXAVITQu4vr4xnSDxMaL, Will bIHbv24MWmeRgasZH58o`
  .split(',')
  .map((row) => row.trim().split(' ') as [name: string, id: string]);

const upper = (text: string) => text.toUpperCase();
const lower = (text: string) => text.toLowerCase();
/** Capitals and small letters in turn. */
const mixed = (text: string) =>
  [...text].map((letter, at) => (at % 2 === 0 ? lower(letter) : upper(letter))).join('');

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
});

const speak = (voice: unknown) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { ...HELLO, input: INSTANT, voice });

describe('a voice of speech', () => {
  it('is one of the 21 of the spec', () => {
    expect(VOICES.map(({ name, id }) => [name, id])).toEqual(SPEC_VOICES);
  });

  it.each(SPEC_VOICES)(
    'named %s reaches the provider as %s however name and id are written (VOICE-01)',
    async (name, id) => {
      const spellings = [name, id].flatMap((text) => [text, upper(text), lower(text), mixed(text)]);
      for (const spelling of spellings) {
        expect((await speak(spelling)).status).toBe(200);
        const [upstream] = await gateway.upstreamRequests();
        expect(upstream?.path).toBe(`/elevenlabs/v1/text-to-speech/${id}`);
      }
    },
  );

  it.each([
    'alloy',
    'echo',
    'nova',
    'shimmer',
    'zzzzzzzzzzzzzzzzzzzz',
    '21m00Tcm4TlvDq8ikWAM',
    '',
    'Adam Smith',
    ' adam',
    'adam\n',
    '../v1/user',
    'constructor',
  ])('is refused when it is %j (VOICE-02)', async (voice) => {
    await expectRefused(gateway, account.accountId, () => speak(voice), {
      status: 400,
      code: 'invalid_request',
      param: 'voice',
    });
  });

  it.each(['Adam', 'aDaM', 'PNINZ6OBPGDQGCFMAJGB'])(
    'written %s is sent in its canonical form (SPEECH-39)',
    async (voice) => {
      expect((await speak(voice)).status).toBe(200);
      const [upstream] = await gateway.upstreamRequests();
      expect(upstream?.path).toBe('/elevenlabs/v1/text-to-speech/pNInz6obpgDQGcFmaJgB');
    },
  );
});
