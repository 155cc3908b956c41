import type { JsonObject } from '../../common/json-object.js';
import { listAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { type FormFields, multipartBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  AlignmentCommand,
  AlignmentPort,
  AlignmentResult,
  TranscriptionCommand,
  TranscriptionPort,
  TranscriptionResult,
  TranscriptWord,
} from '../ports/transcript.port.js';

/** Two hours of speech are about 20,000 words; each takes a few hundred bytes on the wire. */
const MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024;

const SUBTITLES = JSON.stringify([
  { format: 'srt', include_timestamps: true, include_speakers: true },
]);

/** Transcription and forced alignment over the ElevenLabs wire protocol. */
export class ElevenLabsTranscript implements TranscriptionPort, AlignmentPort {
  constructor(private readonly http: ProviderHttp) {}

  transcribe(command: TranscriptionCommand, context: AttemptContext): Promise<TranscriptionResult> {
    return this.http.requestJson(
      {
        method: 'POST',
        path: '/v1/speech-to-text',
        body: multipartBody(transcriptionFields(command, context.upstreamModel), [
          { field: 'file', file: command.media },
        ]),
        timeout: 'transcription',
        context,
      },
      MAX_TRANSCRIPT_BYTES,
      (json, providerRequestId) => transcriptOf(json, command, providerRequestId),
    );
  }

  /** The protocol has no model name for it. */
  align({ media, text }: AlignmentCommand, context: AttemptContext): Promise<AlignmentResult> {
    return this.http.requestJson(
      {
        method: 'POST',
        path: '/v1/forced-alignment',
        body: multipartBody({ text }, [{ field: 'file', file: media }]),
        timeout: 'audio',
        context,
      },
      MAX_TRANSCRIPT_BYTES,
      alignmentOf,
    );
  }
}

function transcriptionFields(command: TranscriptionCommand, upstreamModel: string): FormFields {
  const { subtitles = false, timestamps } = command;
  // Callers never get the times of characters, so those of words are enough.
  const granularity = timestamps === 'character' || subtitles ? 'word' : timestamps;
  return {
    model_id: upstreamModel,
    language_code: command.language,
    diarize: subtitles || command.diarize,
    num_speakers: command.numSpeakers,
    tag_audio_events: command.tagAudioEvents,
    timestamps_granularity: granularity,
    additional_formats: subtitles ? SUBTITLES : undefined,
    temperature: command.temperature,
  };
}

function transcriptOf(
  json: JsonObject,
  { diarize = false, subtitles = false }: TranscriptionCommand,
  providerRequestId: string | null,
): TranscriptionResult | undefined {
  const text = textAt(json, 'text');
  const srt = subtitles ? subRipOf(json) : null;
  if (text === null || (subtitles && srt === null)) return undefined;
  return {
    text,
    language: textAt(json, 'language_code'),
    languageProbability: numberAt(json, 'language_probability'),
    words: (listAt(json, 'words') ?? []).map((word) => toWord(word, diarize)),
    srt,
    providerRequestId,
  };
}

function toWord(word: JsonObject, diarize: boolean): TranscriptWord {
  return {
    text: textAt(word, 'text') ?? '',
    type: textAt(word, 'type') ?? 'word',
    start: numberAt(word, 'start'),
    end: numberAt(word, 'end'),
    speaker: diarize ? textAt(word, 'speaker_id') : null,
  };
}

function subRipOf(json: JsonObject): string | null {
  const format = listAt(json, 'additional_formats')?.find(
    (candidate) => textAt(candidate, 'requested_format') === 'srt',
  );
  const content = format ? textAt(format, 'content') : null;
  const isBase64 = format?.is_base64_encoded === true;
  return content !== null && isBase64 ? Buffer.from(content, 'base64').toString() : content;
}

function alignmentOf(
  json: JsonObject,
  providerRequestId: string | null,
): AlignmentResult | undefined {
  const words = listAt(json, 'words');
  if (!words) return undefined;
  return {
    words: words.map((word) => ({
      text: textAt(word, 'text') ?? '',
      start: numberAt(word, 'start'),
      end: numberAt(word, 'end'),
      loss: numberAt(word, 'loss'),
    })),
    loss: numberAt(json, 'loss'),
    providerRequestId,
  };
}
