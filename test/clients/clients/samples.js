import assert from 'node:assert/strict';

/** What every client is asked for: the gateway's models, and what the sandbox answers. */
export const CHAT_MODEL = 'gen-5-mini';
export const IMAGE_MODEL = 'gen-image-2';
export const SPEECH_MODEL = 'aud-v4';
export const TRANSCRIPTION_MODEL = 'aud-transcribe-v2';
export const EMBEDDING_MODEL = 'gen-embed-demo';
export const VIDEO_MODEL = 'vid-motion';
export const VOICE = 'Adam';

export const SAY_HELLO = 'Say hello there';
export const HELLO = 'hello there';
export const ASK_WEATHER = 'Use get_weather for Graz';
export const WEATHER = 'sunny';
export const TOOL_ANSWER = 'The tool answered: sunny';
export const TEXTS = ['A lighthouse at night', 'A lighthouse by day', 'Invoices are due'];
export const IMAGE_URL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A JSON Schema with one required text. */
export const CITY_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const notYet = (reason, run) => ({ reason, run });

export const saysHello = (text) => assert.equal(text, HELLO);
export const saysSunny = (text) => assert.match(String(text), /sunny/);
export const namesCity = (value) => assert.equal(typeof value?.city, 'string');
export const countsTokens = (count) => assert.ok(count > 0, `${count} tokens`);
export const isPng = (base64) =>
  assert.equal(Buffer.from(base64, 'base64').toString('latin1', 1, 4), 'PNG');
export const isMp3 = (bytes) => assert.ok(bytes.length > 1000, `${bytes.length} bytes of audio`);
export const isMp4 = (bytes) => assert.equal(Buffer.from(bytes).toString('latin1', 4, 8), 'ftyp');

/** Vectors of TEXTS: the first two are nearer to each other than to the third. */
export function areVectors([night, day, invoices]) {
  const nearness = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0);
  assert.equal(night.length, 1_536);
  assert.ok(nearness(night, day) > nearness(night, invoices) + 0.1);
}

/** A recording of the two words, as the gateway speaks them. */
export async function recording({ baseURL, apiKey }) {
  const answer = await fetch(`${baseURL}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: SPEECH_MODEL, voice: VOICE, input: HELLO }),
  });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}
