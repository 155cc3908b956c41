import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireFault } from '../http/protocol.js';
import { Magic } from '../magic-inputs.js';
import { joinSounds } from '../media/sound/sound.js';
import { speechSound } from '../media/sound/speech.js';
import { outputFormat, sendAudio, type Studio } from './audio-answer.js';
import { BodyFields } from './body-fields.js';
import { checkSpeech, speechModelOf } from './speech-models.js';
import { delivery } from './text-to-speech.js';
import { timbreOf } from './voices.js';

const DEFAULT_MODEL = 'eleven_v3';
const MAX_CHARACTERS = 2000;
const MAX_VOICES = 10;
const MAX_SEED = 4_294_967_295;

/** `POST /v1/text-to-dialogue`: lines of several voices as one recording, one line after the other. */
export async function textToDialogue(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange);
  const { inputs, modelId, language, stability, seed } = readRequest(exchange.body);
  const model = speechModelOf(modelId);
  if (!model.canDialogue) refuse('unsupported_model', `Model '${modelId}' has no dialogue.`);
  const characters = inputs.reduce((sum, { text }) => sum + Array.from(text).length, 0);
  checkSpeech(modelId, { ...model, maxCharacters: MAX_CHARACTERS }, characters, language);
  const voices = [...new Set(inputs.map(({ voiceId }) => voiceId))];
  if (voices.length > MAX_VOICES) refuse('too_many_voices', `At most ${MAX_VOICES} voices.`);
  const lines = inputs.map(({ text, voiceId }) => ({
    text: Magic.strip(text),
    speaker: voices.indexOf(voiceId),
    delivery: delivery(timbreOf(voiceId), { stability, speed: 1 }, seed),
  }));
  await sendAudio(
    exchange,
    format,
    {
      sound: joinSounds(lines.map((line) => speechSound(line.text, line.delivery))),
      comment: lines.map(({ speaker, text }) => `speaker_${speaker}: ${text}`).join('\n'),
      cost: characters,
    },
    studio,
  );
}

function readRequest(body: Buffer) {
  const fields = BodyFields.ofBody(body);
  const request = {
    modelId: fields.text('model_id') ?? DEFAULT_MODEL,
    language: fields.text('language_code'),
    stability: fields.object('settings').number('stability', 0, 1) ?? 0.5,
    seed: fields.whole('seed', 0, MAX_SEED),
    inputs: fields.list('inputs', true).map((line) => ({
      text: line.requiredText('text'),
      voiceId: line.requiredText('voice_id'),
    })),
  };
  fields.finish();
  if (request.inputs.length === 0) refuse('empty_inputs', 'There is nothing to say.');
  return request;
}

function refuse(code: string, message: string): never {
  throw new WireFault({ status: 400, code, message });
}
