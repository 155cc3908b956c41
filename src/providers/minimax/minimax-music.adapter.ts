import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { audioBytes, afterChunk, readChunk } from '../../media/duration/container/riff-chunk.js';
import { measureBytes } from '../../media/duration/media-duration.js';
import { carriesError } from '../http/error-facts.js';
import { MEASURED_MS } from '../http/figures.js';
import { asRequestId, textAt } from '../http/json-fields.js';
import { bodyOfBuffers, SPEECH_HZ, speechBody } from '../http/l16-speech.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { CompositionCommand, CompositionPort, ProviderAudio } from '../ports/audio.port.js';

const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 };
const WAV = { format: 'wav', sample_rate: SPEECH_HZ };
/** Seven minutes of WAV with two channels, in hex. The vendor's songs are shorter. */
const MAX_SONG_RESPONSE_BYTES = 80 * 1024 * 1024;
const MAX_VALUES = 1_000;
const RIFF_HEADER_BYTES = 12;
const PCM = 1;
const PCM_BITS = 16;

/** A song as the vendor answers it. */
interface Song {
  readonly file: Buffer;
  readonly providerRequestId: string | null;
}

/**
 * Songs over MiniMax's wire protocol, whole and in the answer itself. The vendor decides their length, which is measured here.
 * Without lyrics it writes them, unless there is no singing. PCM and Opus have one channel and are made here of WAV.
 */
export class MiniMaxMusic implements CompositionPort {
  constructor(private readonly http: ProviderHttp) {}

  async compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { format } = command;
    const { file, providerRequestId } = await this.http.requestJson(
      {
        method: 'POST',
        path: '/v1/music_generation',
        body: jsonBody(fieldsOf(command, context.upstreamModel)),
        timeout: 'composition',
        context,
      },
      MAX_SONG_RESPONSE_BYTES,
      toSong,
      MAX_VALUES,
    );
    const milliseconds = millisecondsOf(file, format === 'mp3' ? 'mp3' : 'wav');
    if (milliseconds === undefined) throw this.http.unusableAnswer('not_audio');
    context.owner?.onFigures?.({ [MEASURED_MS]: milliseconds });
    if (format === 'mp3') return { body: bodyOfBuffers(file), providerRequestId };
    const samples = monoOf(file);
    if (samples === undefined) throw this.http.unusableAnswer('not_audio');
    const accountId = context.owner?.accountId ?? null;
    const body = await speechBody({ samples, sampleRate: SPEECH_HZ }, format, accountId);
    return { body, providerRequestId };
  }
}

function fieldsOf(
  { prompt, lyrics, instrumental, format }: CompositionCommand,
  upstreamModel: string,
): object {
  return {
    model: upstreamModel,
    prompt,
    lyrics,
    is_instrumental: instrumental,
    lyrics_optimizer: lyrics === undefined && instrumental !== true ? true : undefined,
    audio_setting: format === 'mp3' ? MP3 : WAV,
    output_format: 'hex',
  };
}

/** Undefined for an answer without a song. */
function toSong(json: JsonObject, providerRequestId: string | null): Song | undefined {
  const audio = isJsonObject(json.data) ? textAt(json.data, 'audio') : null;
  if (carriesError(json) || audio === null) return undefined;
  const file = Buffer.from(audio, 'hex');
  // What is no hex ends the bytes.
  if (file.length * 2 !== audio.length) return undefined;
  return { file, providerRequestId: asRequestId(json.trace_id) ?? providerRequestId };
}

/** The length of a file of this format; undefined for anything else. */
function millisecondsOf(file: Buffer, wanted: 'mp3' | 'wav'): number | undefined {
  try {
    const { format, durationMicros } = measureBytes(file);
    return format === wanted ? Number(durationMicros / 1_000n) : undefined;
  } catch {
    return undefined;
  }
}

/** The samples of a WAV of 16 bits, two channels as their mean; undefined for another one. */
function monoOf(file: Buffer): Buffer | undefined {
  let channels = 0;
  for (let chunk = readChunk(file, RIFF_HEADER_BYTES, 'LE'); chunk !== undefined;) {
    const { id, at } = chunk;
    if (id === 'fmt ') {
      const isPcm = file.readUInt16LE(at) === PCM && file.readUInt16LE(at + 14) === PCM_BITS;
      if (!isPcm || file.readUInt32LE(at + 4) !== SPEECH_HZ) return undefined;
      channels = file.readUInt16LE(at + 2);
    }
    if (id === 'data')
      return mixed(file.subarray(at, at + audioBytes(file, chunk, 'LE')), channels);
    chunk = readChunk(file, afterChunk(chunk), 'LE');
  }
  return undefined;
}

function mixed(samples: Buffer, channels: number): Buffer | undefined {
  if (channels === 1) return samples.subarray(0, samples.length & ~1);
  if (channels !== 2) return undefined;
  // A copy, because the samples may begin at an odd byte.
  const both = new Int16Array(new Uint8Array(samples.subarray(0, samples.length & ~3)).buffer);
  const mono = new Int16Array(both.length / 2);
  for (let at = 0; at < mono.length; at += 1)
    mono[at] = ((both[2 * at] ?? 0) + (both[2 * at + 1] ?? 0)) >> 1;
  return Buffer.from(mono.buffer);
}
