import type { SoundFormat } from '../../common/audio/sound-writer.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { Magic } from '../magic-inputs.js';
import { encodeSound } from '../media/audio-files/audio-encoder.js';
import { SOUND_CONTENT_TYPES } from '../media/audio-files/audio-format.js';
import { hashText } from '../media/seeded-random.js';
import { speechOfLength, speechSound } from '../media/sound/speech.js';
import { refuse } from './openai-errors.js';

const FORMATS: Readonly<Record<string, SoundFormat>> = {
  mp3: { codec: 'mp3', sampleRate: 24_000, kbps: 128 },
  opus: { codec: 'opus', sampleRate: 48_000, kbps: 64 },
  wav: { codec: 'wav', sampleRate: 24_000, kbps: 0 },
  pcm: { codec: 'pcm', sampleRate: 24_000, kbps: 0 },
};
const OTHER: Readonly<Record<string, string>> = { mp3: 'wav', opus: 'mp3', wav: 'mp3', pcm: 'wav' };
const KNOWN_FIELDS = new Set(
  'model input voice instructions response_format speed stream_format'.split(' '),
);
const VOICES = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
);
const MAX_CHARACTERS = 4_096;
const LOWEST_HZ = 90;
const HZ_RANGE = 140;
const INSTANT_SECONDS = 0.5;

/** `POST /v1/audio/speech`: takes JSON, answers speech while it is made. */
export async function audioSpeech(exchange: SandboxExchange): Promise<void> {
  const { input, voice, name, speed } = readRequest(exchange.body);
  const written = exchange.magic.has('wrong-format') ? (OTHER[name] ?? name) : name;
  const format = FORMATS[written] ?? refuse('Invalid response_format.', 'response_format');
  const text = Magic.strip(input);
  const delivery = {
    pitchHz: LOWEST_HZ + (hashText(voice) % HZ_RANGE),
    speed,
    seed: hashText(voice),
  };
  const sound = exchange.magic.has('instant')
    ? speechOfLength(text, INSTANT_SECONDS, delivery)
    : speechSound(text, delivery);
  const headers = {
    'content-type': SOUND_CONTENT_TYPES[format.codec],
    'x-request-id': exchange.requestId,
  };
  await exchange.send(200, headers, encodeSound(sound, format, text));
}

function readRequest(body: Buffer) {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const { input, voice, response_format: name = 'mp3' } = request;
  if (typeof input !== 'string' || input === '' || input.length > MAX_CHARACTERS)
    return refuse('input must have 1 to 4096 characters.', 'input');
  if (typeof voice !== 'string' || !VOICES.has(voice)) return refuse('Invalid voice.', 'voice');
  if (typeof name !== 'string' || !Object.hasOwn(FORMATS, name))
    return refuse('Invalid response_format.', 'response_format');
  return { input, voice, name, speed: readSpeed(request) };
}

function readSpeed({ speed = 1 }: JsonRecord): number {
  if (typeof speed === 'number' && speed >= 0.25 && speed <= 4) return speed;
  return refuse('speed must be from 0.25 to 4.', 'speed');
}
