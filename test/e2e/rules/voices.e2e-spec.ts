import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { VOICES } from '../../../src/catalog/voices.js';
import type { RecordedRequest } from '../../../src/sandbox/http/recorder.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { type RecordingServer, startRecordingServer } from '../../support/recording-server.js';
import { expectRefused } from '../../support/refusal.js';
import { INSTANT } from '../../support/paid-speech.js';

/** The promised table, written out, because the gateway's own table is tested. */
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

let recordings: RecordingServer;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  recordings = await startRecordingServer(0.1);
  gateway = await startTestGateway(recordings.settings);
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

interface Form {
  readonly enum?: readonly string[];
  readonly pattern?: string;
}
type Upstream = RecordedRequest & { readonly body: { readonly inputs?: { voice_id: string }[] } };

/** Each endpoint with a voice, and where its provider gets the id of the voice. */
const SPEAKERS: readonly {
  readonly path: string;
  readonly body: (voice: unknown) => object;
  readonly param: string;
  readonly sentId: (upstream: Upstream) => string | undefined;
}[] = [
  {
    path: '/v1/audio/speech',
    body: (voice) => ({ ...HELLO, input: INSTANT, voice }),
    param: 'voice',
    sentId: ({ path }) => /^\/elevenlabs\/v1\/text-to-speech\/([^/]+)$/.exec(path)?.[1],
  },
  {
    path: '/v1/audio/dialogue',
    body: (voice) => ({ model: 'aud-v4-dialogue', inputs: [{ text: 'a', voice }] }),
    param: 'inputs.0.voice',
    sentId: ({ body }) => body.inputs?.[0]?.voice_id,
  },
  {
    path: '/v1/audio/voice-changer',
    body: (voice) => ({ model: 'aud-english-sts-v2', audio_url: recordings.url, voice }),
    param: 'voice',
    sentId: ({ path }) => /^\/elevenlabs\/v1\/speech-to-speech\/([^/]+)$/.exec(path)?.[1],
  },
];

describe.each(SPEAKERS)('a voice of $path', ({ path, body, param, sentId }) => {
  const ask = (voice: unknown) => postJson(gateway.url + path, account.headers, body(voice));

  it.each(SPEC_VOICES)(
    'named %s reaches the provider as %s however name and id are written (VOICE-01, G-37)',
    async (name, id) => {
      const spellings = [name, id].flatMap((text) => [upper(text), lower(text), mixed(text)]);
      const asked = [...spellings, name, id];
      const answers = await Promise.all(asked.map(ask));
      expect(answers.map((answer) => answer.status)).toEqual(asked.map(() => 200));
      const received = (await gateway.upstreamRequests()).slice(0, asked.length);
      expect(received.map((upstream) => sentId(upstream as Upstream))).toEqual(asked.map(() => id));
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
    await expectRefused(gateway, account.accountId, () => ask(voice), {
      status: 400,
      code: 'invalid_request',
      param,
    });
  });
});

it('the schema has the names, and accepts every spelling that is accepted', () => {
  const document = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  const { components } = JSON.parse(document) as {
    components: { schemas: { SpeechBody: { properties: { voice: { anyOf: Form[] } } } } };
  };
  const [names, others] = components.schemas.SpeechBody.properties.voice.anyOf;
  expect(names?.enum).toEqual(SPEC_VOICES.map(([name]) => name));
  for (const text of SPEC_VOICES.flat().flatMap((text) => [text, upper(text), lower(text)])) {
    expect(text).toMatch(new RegExp(others?.pattern ?? '$^'));
  }
});

it('the voices are the 21 that are promised', () => {
  expect(VOICES.map(({ name, id }) => [name, id])).toEqual(SPEC_VOICES);
});

it.each(['Adam', 'aDaM', 'PNINZ6OBPGDQGCFMAJGB'])(
  'speech by %s is asked for in the canonical form (SPEECH-39)',
  async (voice) => {
    const body = { ...HELLO, voice };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, body);
    expect(answer.status).toBe(200);
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.path).toBe('/elevenlabs/v1/text-to-speech/pNInz6obpgDQGcFmaJgB');
  },
);
