import type { Exchange } from '../http/exchange.js';
import { WireAnswer } from '../http/protocol.js';
import { encodeSound } from '../media/audio-encoder.js';
import { AUDIO_FORMATS, type AudioFormat, CONTENT_TYPES } from '../media/audio-format.js';
import { type ClipCache, collectInto } from '../media/clip-cache.js';
import type { Sound } from '../media/sound.js';
import type { SpokenTexts } from './spoken-texts.js';

const DEFAULT_FORMAT = 'mp3_44100_128';
const WAV: AudioFormat = { codec: 'wav', sampleRate: 22_050, kbps: 0 };
const MP3: AudioFormat = { codec: 'mp3', sampleRate: 22_050, kbps: 32 };

/** Audio to answer with. */
export interface AudioAnswer {
  readonly sound: Sound;
  /** What is said; kept in the file's tag, so that the sandbox can transcribe its own audio. */
  readonly comment: string;
  /** Credits the vendor would take. */
  readonly cost: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names everything the sound is made from; with a key the file is kept and sent again at once. */
  readonly clipKey?: string;
}

/** What audio answers share between requests. */
export interface Studio {
  readonly clips: ClipCache;
  readonly spoken: SpokenTexts;
}

/** The `output_format` of the query; 422 for a name the endpoint does not know. */
export function outputFormat(exchange: Exchange, options = { wav: true }): AudioFormat {
  const name = exchange.query.get('output_format') ?? DEFAULT_FORMAT;
  const format = AUDIO_FORMATS.get(name);
  if (format !== undefined && (options.wav || format.codec !== 'wav')) return format;
  throw new WireAnswer(422, {
    detail: [
      {
        type: 'enum',
        loc: ['query', 'output_format'],
        msg: `Input should be one of the output formats, not '${name}'`,
        input: name,
      },
    ],
  });
}

/** Sends audio with the vendor's bookkeeping headers: a kept clip at once, anything else chunked while it is made. */
export async function sendAudio(
  exchange: Exchange,
  format: AudioFormat,
  answer: AudioAnswer,
  studio: Studio,
): Promise<void> {
  const written = exchange.magic.has('wrong-format') ? otherThan(format) : format;
  const headers = {
    'content-type': CONTENT_TYPES[format.codec],
    'request-id': exchange.requestId,
    'character-cost': String(answer.cost),
    'current-concurrent-requests': '1',
    'maximum-concurrent-requests': '15',
    ...answer.headers,
  };
  await exchange.send(200, headers, audioFile(written, answer, studio));
}

function audioFile(
  format: AudioFormat,
  { sound, comment, clipKey }: AudioAnswer,
  { clips, spoken }: Studio,
): Buffer | AsyncIterable<Uint8Array> {
  const key = clipKey === undefined ? undefined : JSON.stringify([format, clipKey]);
  const clip = key === undefined ? undefined : clips.get(key);
  if (clip !== undefined) return clip;
  const encoded = encodeSound(sound, format, comment);
  const file = format.codec === 'pcm' ? spoken.remember(encoded, comment) : encoded;
  return key === undefined ? file : collectInto(clips, key, file);
}

function otherThan(format: AudioFormat): AudioFormat {
  return format.codec === 'mp3' ? WAV : MP3;
}
