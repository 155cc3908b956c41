import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { Magic } from '../magic-inputs.js';
import { hashText } from '../media/seeded-random.js';
import { speechOfLength, speechSound } from '../media/sound/speech.js';
import { outputFormat, sendAudio, type Studio } from './audio-answer.js';
import { BodyFields, refuseAudio } from './body-fields.js';
import { checkSpeech, speechModelOf } from './speech-models.js';
import { pitchOf } from './voices.js';
import { joinSounds } from '../media/sound/sound.js';

const DEFAULT_MODEL = 'eleven_multilingual_v2';
const MAX_SEED = 4_294_967_295;
/** Speech of texts up to this length is kept, so that a repeated request needs no work. */
const MAX_CACHED_CHARACTERS = 200;
const INSTANT_SECONDS = 0.5;

/** Settings of the voice, under the vendor's names. */
export interface VoiceSettings {
  readonly stability: number;
  readonly speed: number;
}

/** `POST /v1/text-to-speech/{voice_id}`: takes JSON, answers speech. */
export async function textToSpeech(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange);
  const request = readRequest(exchange.body);
  const voiceId = exchange.params.voice_id ?? '';
  const pitchHz = pitchOf(voiceId);
  const model = speechModelOf(request.modelId);
  const characters = Array.from(request.text).length;
  checkSpeech(request.modelId, model, characters, request.language);
  if (request.hasContext && !model.takesContext) {
    refuseAudio(
      'unsupported_model',
      `Providing previous_text or next_text is not yet supported with the '${request.modelId}' model.`,
    );
  }
  const isInstant = exchange.magic.has('instant');
  const comment = isInstant ? 'instant' : Magic.strip(request.text);
  const cost = Math.ceil(characters * model.creditsPerCharacter);
  const how = delivery(pitchHz, request.settings, request.seed);
  const sound = isInstant
    ? speechOfLength(comment, INSTANT_SECONDS, how)
    : speechSound(comment, how);
  const isKept = isInstant || characters <= MAX_CACHED_CHARACTERS;
  await sendAudio(
    exchange,
    format,
    { sound, comment, cost, ...(isKept && { clipKey: JSON.stringify([isInstant, comment, how]) }) },
    studio,
  );
}

function readRequest(body: Buffer) {
  const fields = BodyFields.ofBody(body);
  const request = {
    text: fields.requiredText('text'),
    modelId: fields.text('model_id') ?? DEFAULT_MODEL,
    language: fields.text('language_code'),
    settings: readVoiceSettings(fields.object('voice_settings')),
    seed: fields.whole('seed', 0, MAX_SEED),
    hasContext: [fields.text('previous_text'), fields.text('next_text')].filter(Boolean).length > 0,
  };
  fields.oneOf('apply_text_normalization', ['auto', 'on', 'off']);
  fields.finish();
  if (request.text.trim() !== '') return request;
  refuseAudio('text_empty', 'The text must not be empty.');
}

/** Reads `voice_settings` from a JSON body, or from the JSON text of a form field. */
export function readVoiceSettings(fields: BodyFields): VoiceSettings {
  fields.number('similarity_boost', 0, 1);
  fields.number('style', 0, 1);
  fields.flag('use_speaker_boost');
  return {
    stability: fields.number('stability', 0, 1) ?? 0.5,
    speed: fields.number('speed', 0.7, 1.2) ?? 1,
  };
}

/** How a voice speaks with the given settings. Without a seed the settings decide the details. */
export function delivery(pitchHz: number, settings: VoiceSettings, seed?: number) {
  return {
    pitchHz,
    speed: settings.speed,
    seed: seed ?? hashText(JSON.stringify(settings)),
  };
}

const DIALOGUE_MODEL = 'eleven_v3';
const MAX_DIALOGUE_CHARACTERS = 2000;
const MAX_VOICES = 10;

/** `POST /v1/text-to-dialogue`: lines of several voices as one recording, one line after the other. */
export async function textToDialogue(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange);
  const { inputs, modelId, language, stability, seed } = readDialogue(exchange.body);
  const model = speechModelOf(modelId);
  if (!model.canDialogue) refuseAudio('unsupported_model', `Model '${modelId}' has no dialogue.`);
  const characters = inputs.reduce((sum, { text }) => sum + Array.from(text).length, 0);
  checkSpeech(modelId, { ...model, maxCharacters: MAX_DIALOGUE_CHARACTERS }, characters, language);
  const voices = [...new Set(inputs.map(({ voiceId }) => voiceId))];
  if (voices.length > MAX_VOICES) refuseAudio('too_many_voices', `At most ${MAX_VOICES} voices.`);
  const lines = inputs.map(({ text, voiceId }) => ({
    text: Magic.strip(text),
    speaker: voices.indexOf(voiceId),
    delivery: delivery(pitchOf(voiceId), { stability, speed: 1 }, seed),
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

function readDialogue(body: Buffer) {
  const fields = BodyFields.ofBody(body);
  const request = {
    modelId: fields.text('model_id') ?? DIALOGUE_MODEL,
    language: fields.text('language_code'),
    stability: fields.object('settings').number('stability', 0, 1) ?? 0.5,
    seed: fields.whole('seed', 0, MAX_SEED),
    inputs: fields.list('inputs', true).map((line) => ({
      text: line.requiredText('text'),
      voiceId: line.requiredText('voice_id'),
    })),
  };
  fields.finish();
  if (request.inputs.length === 0) refuseAudio('empty_inputs', 'There is nothing to say.');
  return request;
}
