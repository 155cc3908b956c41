import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireAnswer } from '../http/protocol.js';
import { encodeSound } from '../media/audio-files/audio-encoder.js';
import type { SoundFormat } from '../../common/audio/sound-writer.js';
import { AUDIO_FORMATS, SOUND_CONTENT_TYPES } from '../media/audio-files/audio-format.js';
import type { Waveform } from '../media/sound/sound.js';

const DEFAULT_FORMAT = 'mp3_44100_128';
const WAV: SoundFormat = { codec: 'wav', sampleRate: 22_050, kbps: 0 };
const MP3: SoundFormat = { codec: 'mp3', sampleRate: 22_050, kbps: 32 };

/** Audio for an answer. */
export interface SoundReply {
  readonly sound: Waveform;
  /** The spoken words. They are kept in the tag of the file, so that the sandbox can transcribe its own audio. */
  readonly comment: string;
  /** The credits that the vendor would charge. */
  readonly cost: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Contains everything that decides the sound. With a key the file is kept and sent again without delay. */
  readonly clipKey?: string;
}

/** The state that audio answers share. */
export interface Studio {
  readonly clips: ClipCache;
  readonly spoken: SpokenTexts;
}

/** The `output_format` of the query. 422 for a format that the endpoint does not offer. */
export function outputFormat(exchange: SandboxExchange, options = { wav: true }): SoundFormat {
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

/** Sends audio with the vendor's headers: a kept file in one piece, any other in chunks while it is made. */
export async function sendAudio(
  exchange: SandboxExchange,
  format: SoundFormat,
  answer: SoundReply,
  studio: Studio,
): Promise<void> {
  const written = exchange.magic.has('wrong-format') ? otherThan(format) : format;
  const headers = {
    'content-type': SOUND_CONTENT_TYPES[format.codec],
    'request-id': exchange.requestId,
    'character-cost': String(answer.cost),
    'current-concurrent-requests': '1',
    'maximum-concurrent-requests': '15',
    ...answer.headers,
  };
  await exchange.send(200, headers, audioFile(written, answer, studio));
}

function audioFile(
  format: SoundFormat,
  { sound, comment, clipKey }: SoundReply,
  { clips, spoken }: Studio,
): Buffer | AsyncIterable<Uint8Array> {
  const key = clipKey === undefined ? undefined : JSON.stringify([format, clipKey]);
  const clip = key === undefined ? undefined : clips.get(key);
  if (clip !== undefined) return clip;
  const encoded = encodeSound(sound, format, comment);
  const file = format.codec === 'pcm' ? spoken.remember(encoded, comment) : encoded;
  return key === undefined ? file : collectInto(clips, key, file);
}

function otherThan(format: SoundFormat): SoundFormat {
  return format.codec === 'mp3' ? WAV : MP3;
}

const MAX_TEXTS = 1000;
/** This many bytes of raw audio tell two recordings apart. The first piece that is sent is always longer. */
const FINGERPRINT_BYTES = 2048;

/**
 * The words of recordings without a tag (raw PCM), found by the first bytes of a recording. They are found too when a
 * caller puts a WAV header in front of the samples.
 */
export class SpokenTexts {
  private readonly texts = new LRUCache<string, string>({ max: MAX_TEXTS });

  /** Passes a raw recording on and remembers its words. */
  async *remember(recording: AsyncIterable<Uint8Array>, text: string): AsyncGenerator<Uint8Array> {
    let isFirst = true;
    for await (const piece of recording) {
      if (isFirst) this.texts.set(fingerprint(piece), text);
      isFirst = false;
      yield piece;
    }
  }

  /** The words of an uploaded WAV file that contains a remembered recording. */
  recall(file: Buffer): string | undefined {
    const data = file.subarray(0, FINGERPRINT_BYTES).indexOf('data', 12, 'latin1');
    return data < 0 ? undefined : this.texts.get(fingerprint(file.subarray(data + 8)));
  }
}

function fingerprint(samples: Uint8Array): string {
  return createHash('sha256').update(samples.subarray(0, FINGERPRINT_BYTES)).digest('base64');
}

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Finished files, found by what they were made from. Their bytes are bounded. */
export type ClipCache = LRUCache<string, Buffer>;

/** An empty cache for at most 32 MB of files. */
export function createClipCache(): ClipCache {
  return new LRUCache<string, Buffer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (clip) => clip.length + 1,
  });
}

/** Passes a file on while it is made. Keeps the file once it is complete. */
export async function* collectInto(
  clips: ClipCache,
  key: string,
  file: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file) {
    pieces.push(piece);
    yield piece;
  }
  clips.set(key, Buffer.concat(pieces));
}
