import { randomUUID } from 'node:crypto';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { Magic } from '../magic-inputs.js';
import { musicSound } from '../media/sound/music-sound.js';
import { hashText } from '../media/seeded-random.js';
import { speechOfLength } from '../media/sound/speech.js';
import { outputFormat, sendAudio, type Studio } from './audio-answer.js';
import { BodyFields, refuseAudio } from './body-fields.js';
import { effectSound } from '../media/sound/effect-sound.js';

const MODELS = ['music_v1', 'music_v2', 'music_v2_5'];
const MIN_LENGTH_MS = 3000;
const MAX_LENGTH_MS = 600_000;
const DEFAULT_LENGTH_MS = 30_000;
const MAX_PROMPT_CHARACTERS = 4100;
const MAX_LYRICS_CHARACTERS = 4000;
const CREDITS_PER_SECOND = 30;

/**
 * `POST /v1/music`: a composed piece of the requested length. It sings the lyrics (or the prompt) unless it is
 * instrumental.
 */
export async function music(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange, { wav: false });
  const { prompt, lyrics, lengthMs, isInstrumental } = readRequest(exchange.body);
  const seconds = lengthMs / 1000;
  const words = lyrics ?? prompt;
  const singer = { pitchHz: 220, speed: 1, seed: hashText(prompt) };
  const vocals = isInstrumental ? undefined : speechOfLength(words, seconds, singer);
  await sendAudio(
    exchange,
    format,
    {
      sound: musicSound(prompt, seconds, vocals && { vocals }),
      comment: isInstrumental ? '' : words,
      cost: Math.ceil(seconds * CREDITS_PER_SECOND),
      headers: { 'song-id': randomUUID().replaceAll('-', '') },
    },
    studio,
  );
}

function readRequest(body: Buffer) {
  const fields = BodyFields.ofBody(body);
  const prompt = fields.text('prompt');
  const lyrics = fields.text('lyrics_text');
  const request = {
    lyrics: lyrics === undefined ? undefined : Magic.strip(lyrics),
    lengthMs: fields.whole('music_length_ms', MIN_LENGTH_MS, MAX_LENGTH_MS) ?? DEFAULT_LENGTH_MS,
    isInstrumental: fields.flag('force_instrumental') ?? false,
    model: fields.text('model_id') ?? 'music_v1',
  };
  fields.finish();
  if (prompt === undefined)
    refuseAudio('missing_prompt', 'Either prompt or composition_plan is needed.');
  if (Array.from(prompt).length > MAX_PROMPT_CHARACTERS)
    refuseAudio('bad_prompt', 'Prompt too long.');
  if (Array.from(lyrics ?? '').length > MAX_LYRICS_CHARACTERS) {
    refuseAudio('bad_prompt', 'Lyrics too long.');
  }
  if (!MODELS.includes(request.model)) refuseAudio('model_not_supported', 'Unknown music model.');
  return { ...request, prompt: Magic.strip(prompt) };
}

const EFFECT_MODEL = 'eleven_text_to_sound_v2';
const MIN_EFFECT_SECONDS = 0.5;
const MAX_EFFECT_SECONDS = 30;
const CREDITS_PER_EFFECT_SECOND = 40;

/**
 * `POST /v1/sound-generation`: a sound effect of the requested length. Without a length the prompt decides it (1 to 8
 * s).
 */
export async function soundGeneration(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange, { wav: false });
  const fields = BodyFields.ofBody(exchange.body);
  const prompt = Magic.strip(fields.requiredText('text'));
  const seconds = fields.number('duration_seconds', MIN_EFFECT_SECONDS, MAX_EFFECT_SECONDS);
  fields.number('prompt_influence', 0, 1);
  const loop = fields.flag('loop') ?? false;
  const model = fields.text('model_id') ?? EFFECT_MODEL;
  fields.finish();
  if (model !== EFFECT_MODEL) {
    refuseAudio('model_not_found', `A model with model ID ${model} does not exist.`);
  }
  const length = seconds ?? 1 + (hashText(prompt) % 8);
  const sound = effectSound(prompt, length, loop);
  const cost = Math.ceil(length * CREDITS_PER_EFFECT_SECOND);
  await sendAudio(exchange, format, { sound, comment: prompt, cost }, studio);
}
