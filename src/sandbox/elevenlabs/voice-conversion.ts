import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { MP3_128 } from '../media/audio-files/audio-format.js';
import { shapedSound } from '../media/audio-files/heard-audio.js';
import type { Waveform } from '../media/sound/sound.js';
import { type SpeechDelivery, speechOfLength } from '../media/sound/speech.js';
import { outputFormat, sendAudio, type Studio } from './audio-answer.js';
import { delivery, readVoiceSettings } from './text-to-speech.js';
import { transcriptOf } from './transcript.js';
import { type UploadedAudio, uploadedAudio, refuseAudio } from './body-fields.js';
import { pitchOf } from './voices.js';

const MODELS = ['eleven_multilingual_sts_v2', 'eleven_english_sts_v2'];
const MAX_SEED = 4_294_967_295;
const CREDITS_PER_SECOND = 17;
/** The one voice that isolation leaves. */
const ISOLATED: SpeechDelivery = { pitchHz: 130, speed: 1, seed: 7 };

/**
 * `POST /v1/speech-to-speech/{voice_id}`: the words of the recording in another voice, with the same length and
 * loudness.
 */
export async function speechToSpeech(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const format = outputFormat(exchange);
  const pitchHz = pitchOf(exchange.params.voice_id ?? '');
  const upload = await uploadedAudio(exchange, 'audio');
  const { fields } = upload;
  const model = fields.text('model_id') ?? 'eleven_english_sts_v2';
  const settings = readVoiceSettings(fields.object('voice_settings'));
  const seed = fields.whole('seed', 0, MAX_SEED);
  fields.flag('remove_background_noise');
  fields.oneOf('file_format', ['pcm_s16le_16', 'other']);
  fields.finish();
  if (!MODELS.includes(model)) {
    refuseAudio('model_not_supported', `Model '${model}' cannot do voice conversion.`);
  }
  await sendAudio(
    exchange,
    format,
    respoken(upload, delivery(pitchHz, settings, seed), studio),
    studio,
  );
}

/** `POST /v1/audio-isolation`: only the voice of a recording, as MP3 of the same length. */
export async function audioIsolation(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const upload = await uploadedAudio(exchange, 'audio');
  upload.fields.oneOf('file_format', ['pcm_s16le_16', 'other']);
  upload.fields.finish();
  await sendAudio(exchange, MP3_128, respoken(upload, ISOLATED, studio), studio);
}

function respoken({ file, heard }: UploadedAudio, how: SpeechDelivery, studio: Studio) {
  const { text } = transcriptOf(heard, studio.spoken.recall(file));
  const sound: Waveform = speechOfLength(text, heard.seconds, how);
  return {
    sound: shapedSound(sound, heard.loudness),
    comment: text,
    cost: Math.ceil(heard.seconds * CREDITS_PER_SECOND),
  };
}
