import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { measureMediaDuration } from '../../media/duration/duration-pool.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { carriesError } from '../http/error-facts.js';
import { MEASURED_MS } from '../http/figures.js';
import { givenFile } from '../http/given-file.js';
import { asRequestId, textAt } from '../http/json-fields.js';
import { bodyOfBuffers, SPEECH_HZ, speechBody } from '../http/l16-speech.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { CompositionCommand, CompositionPort, ProviderAudio } from '../ports/audio.port.js';
import { monoOfWav } from './mono-of-wav.js';

const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 };
const WAV = { format: 'wav', sample_rate: SPEECH_HZ };
/** A quarter of an hour and more at 128 kbit/s. The vendor's songs are shorter. */
const MAX_MP3_BYTES = 16 * 1024 * 1024;
/** Eleven minutes of two channels, of which half is kept. */
const MAX_WAV_BYTES = 64 * 1024 * 1024;
/** The answer has no audio, which an answer in hex would have. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_VALUES = 1_000;
const SAMPLE_BYTES = 2;

/** A song that the vendor has made. */
interface MadeSong {
  readonly url: string;
  readonly providerRequestId: string | null;
}

/**
 * Songs over MiniMax's wire protocol, which answers with their URL once they are made. The vendor decides their length, which is
 * measured here. Without lyrics it writes them, unless there is no singing. PCM and Opus have one channel and are made here of WAV.
 */
export class MiniMaxMusic implements CompositionPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly download: BoundedDownload | undefined,
  ) {}

  async compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { download, http } = this;
    // A song that cannot be fetched is not asked for.
    assert(download, 'songs have to be fetched');
    const song = await http.requestJson(
      {
        method: 'POST',
        path: '/v1/music_generation',
        body: jsonBody(fieldsOf(command, context.upstreamModel)),
        timeout: 'composition',
        context,
      },
      MAX_ANSWER_BYTES,
      toSong,
      MAX_VALUES,
    );
    // From here on it is made and has its cost, whether it arrives or not.
    context.owner?.onMade?.({ unit: 'request', quantity: 1 });
    const { providerRequestId } = song;
    const limitBytes = command.format === 'mp3' ? MAX_MP3_BYTES : MAX_WAV_BYTES;
    const file = givenFile(download, http, { ...song, limitBytes, signal: context.signal });
    const body = await bodyOf(file, command.format, context);
    if (body === undefined) throw http.unusableAnswer('not_audio', providerRequestId);
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
    output_format: 'url',
  };
}

/** Undefined for an answer without a song. */
function toSong(json: JsonObject, providerRequestId: string | null): MadeSong | undefined {
  const url = isJsonObject(json.data) ? textAt(json.data, 'audio') : null;
  if (carriesError(json) || url === null || url === '') return undefined;
  return { url, providerRequestId: asRequestId(json.trace_id) ?? providerRequestId };
}

/** The song, once it is whole; undefined where the file is none. */
function bodyOf(
  file: AsyncIterable<Buffer>,
  format: CompositionCommand['format'],
  context: AttemptContext,
): Promise<Readable | undefined> {
  return format === 'mp3' ? mp3Body(file, context) : wavBody(file, format, context);
}

/** The song as it is, once it is whole and has a length; undefined where it is none. */
async function mp3Body(
  song: AsyncIterable<Buffer>,
  context: AttemptContext,
): Promise<Readable | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of song) pieces.push(piece);
  const file = Buffer.concat(pieces);
  const milliseconds = await millisecondsOf(file, accountOf(context));
  if (milliseconds === undefined) return undefined;
  context.owner?.onFigures?.({ [MEASURED_MS]: milliseconds });
  return bodyOfBuffers([file]);
}

/** The samples of the song in another format; undefined where it is no WAV as it was asked for. */
async function wavBody(
  song: AsyncIterable<Buffer>,
  format: 'opus' | 'pcm',
  context: AttemptContext,
): Promise<Readable | undefined> {
  const pieces = await monoOfWav(song, SPEECH_HZ);
  if (pieces === undefined) return undefined;
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const milliseconds = Math.floor((bytes / SAMPLE_BYTES / SPEECH_HZ) * 1_000);
  context.owner?.onFigures?.({ [MEASURED_MS]: milliseconds });
  if (format === 'pcm') return bodyOfBuffers(pieces);
  const samples = Buffer.concat(pieces, bytes);
  return speechBody({ samples, sampleRate: SPEECH_HZ }, format, accountOf(context));
}

/** The length of an MP3; undefined for anything else. */
async function millisecondsOf(file: Buffer, accountId: string): Promise<number | undefined> {
  try {
    const { format, durationMicros } = await measureMediaDuration(file, accountId);
    return format === 'mp3' ? Number(durationMicros / 1_000n) : undefined;
  } catch (error) {
    const isNoAudio = error instanceof GatewayError && error.code === 'unsupported_audio_format';
    if (isNoAudio) return undefined;
    throw error;
  }
}

const accountOf = ({ owner }: AttemptContext): string => owner?.accountId ?? '';
