import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireFault } from '../http/protocol.js';
import { Magic } from '../magic-inputs.js';
import { effectSound } from '../media/sound/effect-sound.js';
import { hashText } from '../media/seeded-random.js';
import { outputFormat, sendAudio, type Studio } from './audio-answer.js';
import { BodyFields } from './body-fields.js';

const MODEL = 'eleven_text_to_sound_v2';
const MIN_SECONDS = 0.5;
const MAX_SECONDS = 30;
const CREDITS_PER_SECOND = 40;

/**
 * `POST /v1/sound-generation`: a sound effect of the requested length. Without a length the prompt decides it (1 to 8
 * s).
 */
export async function soundGeneration(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange, { wav: false });
  const fields = BodyFields.ofBody(exchange.body);
  const prompt = Magic.strip(fields.requiredText('text'));
  const seconds = fields.number('duration_seconds', MIN_SECONDS, MAX_SECONDS);
  fields.number('prompt_influence', 0, 1);
  const loop = fields.flag('loop') ?? false;
  const model = fields.text('model_id') ?? MODEL;
  fields.finish();
  if (model !== MODEL) {
    throw new WireFault({
      status: 400,
      code: 'model_not_found',
      message: `A model with model ID ${model} does not exist.`,
    });
  }
  const length = seconds ?? 1 + (hashText(prompt) % 8);
  const sound = effectSound(prompt, length, loop);
  const cost = Math.ceil(length * CREDITS_PER_SECOND);
  await sendAudio(exchange, format, { sound, comment: prompt, cost }, studio);
}
