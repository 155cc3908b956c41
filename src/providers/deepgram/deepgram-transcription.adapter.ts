import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { asRequestId, listAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { fileBody, type FormFields } from '../http/request-body.js';
import { spaced, type Subtitle, subRipOf } from '../http/transcript-parts.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  TranscriptionCommand,
  TranscriptionPort,
  TranscriptionResult,
  TranscriptWord,
} from '../ports/transcript.port.js';

/** Two hours of speech are about 20,000 words; each takes a few hundred bytes on the wire, twice with subtitles. */
const MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024;

/**
 * Transcription over Deepgram's wire protocol: the recording is the body, the settings are the query. The temperature has no
 * counterpart there and is not sent.
 */
export class DeepgramTranscription implements TranscriptionPort {
  constructor(private readonly http: ProviderHttp) {}

  /** The number of speakers and the tagging of sounds have no counterpart there, and it knows languages by two letters. */
  readonly lacks = ({ numSpeakers, tagAudioEvents, language = '' }: TranscriptionCommand) => [
    ...(numSpeakers === undefined ? [] : ['num_speakers']),
    ...(tagAudioEvents === true ? ['tag_audio_events'] : []),
    ...(language.length > 2 ? ['language'] : []),
  ];

  transcribe(command: TranscriptionCommand, context: AttemptContext): Promise<TranscriptionResult> {
    return this.http.requestJson(
      {
        method: 'POST',
        path: '/v1/listen',
        query: settingsOf(command, context.upstreamModel),
        body: fileBody(command.media),
        timeout: 'transcription',
        context,
      },
      MAX_TRANSCRIPT_BYTES,
      (json, providerRequestId) => transcriptOf(json, command, providerRequestId),
    );
  }
}

function settingsOf(
  { language, diarize, subtitles }: TranscriptionCommand,
  upstreamModel: string,
): FormFields {
  return {
    model: upstreamModel,
    smart_format: true,
    language,
    detect_language: language === undefined ? true : undefined,
    // Subtitles tell who speaks.
    diarize: diarize === true || subtitles === true ? true : undefined,
    utterances: subtitles === true ? true : undefined,
  };
}

/** Undefined for a response without a transcript, or without the utterances that subtitles need. */
function transcriptOf(
  { results, metadata }: JsonObject,
  { language, subtitles = false, timestamps, diarize = false }: TranscriptionCommand,
  providerRequestId: string | null,
): TranscriptionResult | undefined {
  const { channel, best, srt } = partsOf(results, subtitles);
  const text = textAt(best, 'transcript');
  if (text === null || srt === undefined) return undefined;
  return {
    text,
    language: textAt(channel, 'detected_language') ?? language ?? null,
    languageProbability: numberAt(channel, 'language_confidence'),
    words: timestamps === 'none' ? [] : wordsOf(best, diarize),
    srt,
    providerRequestId: requestIdIn(metadata) ?? providerRequestId,
  };
}

/**
 * There is one channel, because the channels of a recording are not told apart. Its first alternative is the best. `srt` is
 * undefined where it is wanted and there are no utterances.
 */
function partsOf(results: unknown, wantsSubtitles: boolean) {
  const found = isJsonObject(results) ? results : {};
  const channel = listAt(found, 'channels')?.[0] ?? {};
  const best = listAt(channel, 'alternatives')?.[0] ?? {};
  const utterances = listAt(found, 'utterances')?.map(subtitleOf);
  return { channel, best, srt: wantsSubtitles ? utterances && subRipOf(utterances) : null };
}

function requestIdIn(metadata: unknown): string | null {
  return isJsonObject(metadata) ? asRequestId(metadata.request_id) : null;
}

function wordsOf(best: JsonObject, diarize: boolean): TranscriptWord[] {
  return spaced((listAt(best, 'words') ?? []).map((word) => timedWord(word, diarize)));
}

/** A word as it is written in the text, with its punctuation. */
function timedWord(word: JsonObject, diarize: boolean): TranscriptWord {
  return {
    text: textAt(word, 'punctuated_word') ?? textAt(word, 'word') ?? '',
    type: 'word',
    start: numberAt(word, 'start'),
    end: numberAt(word, 'end'),
    speaker: speakerOf(word, diarize),
  };
}

function subtitleOf(utterance: JsonObject): Subtitle {
  return {
    start: numberAt(utterance, 'start'),
    end: numberAt(utterance, 'end'),
    text: textAt(utterance, 'transcript') ?? '',
    speaker: speakerOf(utterance, true),
  };
}

/** Speakers are numbers there, from 0 on. */
function speakerOf(part: JsonObject, diarize: boolean): string | null {
  const number = diarize ? numberAt(part, 'speaker') : null;
  return number === null ? null : `speaker_${number}`;
}
