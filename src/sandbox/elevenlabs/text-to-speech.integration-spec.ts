import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BufferSource, Input, MP3, OGG, WAVE } from 'mediabunny';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/elevenlabs/v1/text-to-speech`;
});
afterAll(() => server.close());

const ADAM = 'pNInz6obpgDQGcFmaJgB';
const SARAH = 'EXAVITQu4vr4xnSDxMaL';
const SENTENCE = 'The quick brown fox jumps over the lazy dog, twice.';
const SECONDS = SENTENCE.length * 0.065;

function say(body: object, format = 'mp3_44100_128', voice = ADAM): Promise<Response> {
  return fetch(`${base}/${voice}?output_format=${format}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'xi-api-key': SANDBOX_API_KEY },
    body: JSON.stringify(body),
  });
}

async function audio(body: object, format?: string, voice?: string): Promise<Buffer> {
  const answer = await say(body, format, voice);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

function secondsOf(file: Buffer): Promise<number> {
  return new Input({ source: new BufferSource(file), formats: [MP3, OGG, WAVE] }).computeDuration();
}

describe('POST /v1/text-to-speech/{voice_id}', () => {
  it.each([
    ['mp3_44100_128', 'ID3', 'audio/mpeg'],
    ['opus_48000_128', 'OggS', 'audio/ogg'],
    ['wav_44100', 'RIFF', 'audio/wav'],
  ])('makes %s as long as its text', async (format, magic, contentType) => {
    const answer = await say({ text: SENTENCE }, format);
    const file = Buffer.from(await answer.arrayBuffer());
    expect(file.toString('latin1', 0, magic.length)).toBe(magic);
    expect(await secondsOf(file)).toBeCloseTo(SECONDS, 0);
    expect(answer.headers.get('content-type')).toBe(contentType);
    expect(answer.headers.get('character-cost')).toBe(String(SENTENCE.length));
    expect(answer.headers.get('request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(file.includes(SENTENCE)).toBe(true);
  });

  it('makes raw PCM of exactly the length', async () => {
    const file = await audio({ text: SENTENCE }, 'pcm_24000');
    expect(file.length).toBe(Math.round(SECONDS * 24_000) * 2);
  });

  it('says the same again, and something else with another voice, seed or speed', async () => {
    const [first, again, otherVoice, otherSeed, faster] = await Promise.all([
      audio({ text: SENTENCE, seed: 1 }, 'pcm_24000'),
      audio({ text: SENTENCE, seed: 1 }, 'pcm_24000'),
      audio({ text: SENTENCE, seed: 1 }, 'pcm_24000', SARAH),
      audio({ text: SENTENCE, seed: 2 }, 'pcm_24000'),
      audio({ text: SENTENCE, seed: 1, voice_settings: { speed: 1.2 } }, 'pcm_24000'),
    ]);
    expect(again).toEqual(first);
    expect(otherVoice).not.toEqual(first);
    expect(otherSeed).not.toEqual(first);
    expect(faster.length / first.length).toBeCloseTo(1 / 1.2, 2);
  });

  it('answers instant texts with the same short clip', async () => {
    const one = await audio({ text: 'one [[sandbox:instant]]' });
    const two = await audio({ text: 'two [[sandbox:instant]]' });
    expect(two).toEqual(one);
    expect(await secondsOf(one)).toBeLessThan(1);
  });

  it.each([
    ['an unknown voice', { text: 'a' }, 404, 'voice_not_found', 'nobody'],
    ['an unknown model', { text: 'a', model_id: 'eleven_v9' }, 400, 'model_not_found', ADAM],
    ['a long text', { text: 'a'.repeat(10_001) }, 400, 'max_character_limit_exceeded', ADAM],
    ['a strange language', { text: 'a', language_code: 'xx' }, 400, 'unsupported_language', ADAM],
    [
      'context for v3',
      { text: 'a', model_id: 'eleven_v3', next_text: 'b' },
      400,
      'unsupported_model',
      ADAM,
    ],
  ])('refuses %s', async (_what, body, status, code, voice) => {
    const answer = await say(body, undefined, voice);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ detail: { code, status: code } });
  });

  it('lists every bad field in a 422', async () => {
    const answer = await say({ text: 1, seed: -1, voice_settings: { speed: 3 } });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      detail: [
        { loc: ['body', 'text'] },
        { loc: ['body', 'voice_settings', 'speed'] },
        { loc: ['body', 'seed'] },
      ],
    });
  });

  it('refuses an unknown output format', async () => {
    expect((await say({ text: 'a' }, 'flac_44100')).status).toBe(422);
  });
});
