import type { Readable } from 'node:stream';
import { peekStream } from '../../common/peek-stream.js';
import { wavHead } from '../../common/audio/wav-writer.js';
import { sniffAudio } from '../http/audio-sniff.js';
import { roomFor, SPEECH_HZ, speechBody } from '../http/l16-speech.js';
import { PieceStream } from '../http/piece-stream.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import { BodyTooLargeError, readBounded } from '../http/response-body.js';
import type { UpstreamResponse } from '../http/upstream-request.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { AudioFormat, ProviderAudio, SpeechCommand, SpeechPort } from '../ports/audio.port.js';
import { speechPieces } from './speech-events.js';

const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000, channel: 1 };
const RAW = { format: 'pcm', sample_rate: SPEECH_HZ, channel: 1 };
/** 23 minutes of raw speech; only Opus is made of the whole of it. */
const MAX_RAW_BYTES = 64 * 1024 * 1024;
/** What the slowest voice needs for a Chinese sign, and what the text says of pauses, such as `<#1.5#>`. */
const SIGNS_PER_SECOND = 2.8;
const PAUSE = /<#(\d{1,5}(?:\.\d{1,5})?)#>/g;
const MAX_OPUS_SECONDS = 1_357;
/** Stands in the head of a WAV, before its samples, while their size is not known. */
const UNKNOWN_SIZE_BYTES = 0x7fff_0000;
const WAV_HEAD = wavHead(SPEECH_HZ, UNKNOWN_SIZE_BYTES);
/** Enough for the first sign of JSON behind white space. */
const HEAD_BYTES = 16;

/**
 * Speech over MiniMax's wire protocol, which is asked for events, so that each piece is sent on when it arrives. Text, voice,
 * format and speed are sent; the other settings of a voice have no counterpart there. WAV and Opus are made here of raw speech.
 */
export class MiniMaxSpeech implements SpeechPort {
  constructor(private readonly http: ProviderHttp) {}

  async speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { format, text } = command;
    if (format === 'opus' && longestSecondsOf(text) > MAX_OPUS_SECONDS)
      throw this.http.refusal('text_too_long');
    // The vendor makes the MP3 itself.
    using room = format === 'opus' ? roomFor(format, context, this.http) : undefined;
    const response = await this.http.request({
      method: 'POST',
      path: '/v1/t2a_v2',
      headers: { accept: 'text/event-stream' },
      body: jsonBody(fieldsOf(command, context.upstreamModel)),
      timeout: 'audio',
      context,
    });
    const speech = await this.begun(response, format, context);
    const { providerRequestId } = response;
    if (format !== 'opus') return { body: speech, providerRequestId };
    const samples = await this.whole(speech, response);
    const body = await speechBody({ samples, sampleRate: SPEECH_HZ }, format, room);
    return { body, providerRequestId };
  }

  private async whole(speech: Readable, response: UpstreamResponse): Promise<Buffer> {
    try {
      const bytes = await readBounded(speech, MAX_RAW_BYTES);
      return bytes.subarray(0, bytes.length & ~1);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw this.http.unusable(response, 'audio_too_long');
      throw error;
    }
  }

  /** The speech, once its first bytes are there and are what was asked for. */
  private async begun(
    response: UpstreamResponse,
    format: AudioFormat,
    { owner }: AttemptContext,
  ): Promise<Readable> {
    const head = (await peekStream(response.body, HEAD_BYTES)).toString();
    // The vendor writes a failure as JSON, with a good status, where events are asked for.
    if (/^[\s\uFEFF]*\{/.test(head)) throw await this.http.noFile(response, 'not_audio');
    const pieces = speechPieces(response.body, {
      fault: (code, event) => this.http.unusable(response, code, event),
      onFigures: (figures) => {
        if (figures) owner?.onFigures?.(figures);
      },
    });
    // Whoever reads it gets the error.
    const speech = new PieceStream(pieces, response.body).on('error', () => undefined);
    if (await sniffAudio(speech, format === 'mp3' ? 'mp3' : 'pcm')) {
      if (format === 'wav') speech.unshift(WAV_HEAD);
      return speech;
    }
    speech.destroy();
    throw this.http.unusable(response, 'not_audio');
  }
}

/** Seconds that the slowest voice may need for a text, with its pauses. */
export function longestSecondsOf(text: string): number {
  const pauses = [...text.matchAll(PAUSE)].map(([, seconds]) => Number(seconds));
  return text.length / SIGNS_PER_SECOND + pauses.reduce((sum, seconds) => sum + seconds, 0);
}

function fieldsOf({ text, voiceId, format, speed }: SpeechCommand, upstreamModel: string): object {
  return {
    model: upstreamModel,
    text,
    stream: true,
    // Else the last event has all of the speech again.
    stream_options: { exclude_aggregated_audio: true },
    voice_setting: { voice_id: voiceId, speed },
    audio_setting: format === 'mp3' ? MP3 : RAW,
  };
}
