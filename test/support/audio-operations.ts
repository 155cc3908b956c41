import { riffChunk, wavFile } from '../media/wav-file.js';
import { type Answer, postJson, send } from './http-answer.js';

/** A synchronous audio endpoint with a request that works. */
export interface AudioOperation {
  readonly path: string;
  /** The smallest request, without the recording. */
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
  /** Its price in micro-USD, with a recording of ten seconds if it takes one. */
  readonly price: bigint;
  /** A known model of another endpoint. */
  readonly wrongModel: string;
  /** Field whose text reaches the provider, for magic inputs. Without one the recording carries them. */
  readonly textField?: 'inputs' | 'prompt' | 'text';
  readonly takesRecording?: true;
  readonly answersJson?: true;
}

export const DIALOGUE: AudioOperation = {
  path: '/v1/audio/dialogue',
  body: {
    model: 'aud-v4-dialogue',
    inputs: [
      { text: 'Hi', voice: 'Adam' },
      { text: 'Yo', voice: 'Alice' },
    ],
  },
  price: 480n,
  wrongModel: 'aud-v4',
  textField: 'inputs',
};
export const SOUND_EFFECTS: AudioOperation = {
  path: '/v1/audio/sound-effects',
  body: { model: 'aud-sound-effects-v2', prompt: 'rain' },
  price: 15_000n,
  wrongModel: 'aud-v4',
  textField: 'prompt',
};
export const MUSIC: AudioOperation = {
  path: '/v1/audio/music',
  body: { model: 'aud-music-v2.5', prompt: 'piano' },
  price: 112_500n,
  wrongModel: 'aud-sound-effects-v2',
  textField: 'prompt',
};
export const TRANSCRIPTION: AudioOperation = {
  path: '/v1/audio/transcriptions',
  body: { model: 'aud-transcribe-v2' },
  price: 920n,
  wrongModel: 'aud-forced-alignment',
  takesRecording: true,
  answersJson: true,
};
export const ALIGNMENT: AudioOperation = {
  path: '/v1/audio/alignment',
  body: { model: 'aud-forced-alignment', text: 'Hello there' },
  price: 920n,
  wrongModel: 'aud-transcribe-v2',
  textField: 'text',
  takesRecording: true,
  answersJson: true,
};
export const VOICE_CHANGER: AudioOperation = {
  path: '/v1/audio/voice-changer',
  body: { model: 'aud-multilingual-sts-v2', voice: 'Adam' },
  price: 30_000n,
  wrongModel: 'aud-voice-isolator',
  takesRecording: true,
};
export const ISOLATION: AudioOperation = {
  path: '/v1/audio/isolation',
  body: { model: 'aud-voice-isolator' },
  price: 30_000n,
  wrongModel: 'aud-multilingual-sts-v2',
  takesRecording: true,
};

/** In the order of the rows in tests. */
export const AUDIO_OPERATIONS = [
  DIALOGUE,
  SOUND_EFFECTS,
  MUSIC,
  TRANSCRIPTION,
  ALIGNMENT,
  VOICE_CHANGER,
  ISOLATION,
] as const;
/** Those that take a recording, in the same order. */
export const RECORDING_OPERATIONS = [TRANSCRIPTION, ALIGNMENT, VOICE_CHANGER, ISOLATION] as const;

/** A tone of ten seconds. */
export const TEN_SECONDS = wavFile(80_000);

/** A form of these fields and a recording; without the recording if it is null. */
export function recordingForm(
  fields: Readonly<Record<string, unknown>>,
  file: Buffer | null,
  filename = 'recording.wav',
  type = 'audio/wav',
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined)
      form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (file) form.set('file', new Blob([new Uint8Array(file)], { type }), filename);
  return form;
}

/** Posts a form. */
export function postForm(
  url: string,
  headers: Readonly<Record<string, string>>,
  form: FormData,
): Promise<Answer> {
  return send(url, { method: 'POST', headers: { ...headers }, body: form });
}

/** Calls an operation with some fields changed: as a form with a recording if it takes one, else as JSON. */
export function call(
  operation: AudioOperation,
  gatewayUrl: string,
  headers: Readonly<Record<string, string>>,
  fields: object = {},
  recording: Buffer = TEN_SECONDS,
): Promise<Answer> {
  const url = `${gatewayUrl}${operation.path}`;
  const body = { ...operation.body, ...fields };
  return operation.takesRecording
    ? postForm(url, headers, recordingForm(body, recording))
    : postJson(url, headers, body);
}

/** Calls an operation with a magic input in a text, or in a comment of the recording. */
export function callWithMagic(
  operation: AudioOperation,
  gatewayUrl: string,
  headers: Readonly<Record<string, string>>,
  magic: string,
): Promise<Answer> {
  const { textField } = operation;
  if (textField === undefined) {
    return call(operation, gatewayUrl, headers, {}, withComment(TEN_SECONDS, magic));
  }
  const text = textField === 'inputs' ? [{ text: magic, voice: 'Adam' }] : magic;
  return call(operation, gatewayUrl, headers, { [textField]: text });
}

function withComment(wav: Buffer, comment: string): Buffer {
  const head = wav.subarray(0, 36);
  const info = Buffer.concat([Buffer.from('INFO'), riffChunk('ICMT', Buffer.from(comment))]);
  const file = Buffer.concat([head, riffChunk('LIST', info), wav.subarray(36)]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}
