import type { JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import { listAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { type FormFields, multipartBody } from '../http/request-body.js';
import { spaced, type Subtitle, subRipOf } from '../http/transcript-parts.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  TranscriptionCommand,
  TranscriptionPort,
  TranscriptionResult,
  TranscriptWord,
} from '../ports/transcript.port.js';

/** Hours of speech are about 100,000 words; each takes a hundred bytes on the wire. */
const MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024;
/** What OpenAI takes of one recording. */
const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
const WORD_EDGE = /(?<=\S)(?=\s)/;

/** The form of a response: the text alone, with timed words and segments, or with the segments of each speaker. */
type Form = 'json' | 'verbose_json' | 'diarized_json';

/**
 * Transcription over the OpenAI wire protocol. The response has the plainest form that holds what the caller wants, because
 * not every model has all of them. The number of speakers and the tagging of sounds have no counterpart there.
 */
export class OpenAiTranscription implements TranscriptionPort {
  readonly lacks = lacks;

  constructor(private readonly http: ProviderHttp) {}

  transcribe(command: TranscriptionCommand, context: AttemptContext): Promise<TranscriptionResult> {
    const form = formOf(command);
    const fields = fieldsOf(command, context.upstreamModel, form);
    return this.http.requestJson(
      {
        method: 'POST',
        path: '/audio/transcriptions',
        body: multipartBody(fields, [{ field: 'file', file: command.media }]),
        timeout: 'transcription',
        context,
      },
      MAX_TRANSCRIPT_BYTES,
      (json, providerRequestId) => transcriptOf(json, command, providerRequestId),
    );
  }
}

const OF_OPENAI = /^(whisper-1$|gpt-4o)/;
/** What the models that OpenAI itself serves lack, by their names; others are servers of the operator's own. */
const LACKING: readonly (readonly [
  RegExp,
  (command: TranscriptionCommand) => readonly string[],
])[] = [
  [/(^|\/)whisper/, ({ diarize }) => (diarize === true ? ['diarize'] : [])],
  [
    /(^|\/)whisper/,
    (command) =>
      command.subtitles === true && isTimedByWord(command) ? ['timestamps', 'subtitles'] : [],
  ],
  // Its segments of each speaker make subtitles too.
  [
    /(^|\/)gpt-4o.*-diarize/,
    (command) => timedFields(command.diarize === true ? { ...command, subtitles: false } : command),
  ],
  [
    /(^|\/)gpt-4o(?!.*-diarize)/,
    (command) => [...timedFields(command), ...(command.diarize === true ? ['diarize'] : [])],
  ],
  [OF_OPENAI, ({ media }) => (media.sizeBytes > MAX_UPLOAD_BYTES ? ['file'] : [])],
  // It knows languages by two letters.
  [OF_OPENAI, ({ language = '' }) => (language.length > 2 ? ['language'] : [])],
  [OF_OPENAI, ({ temperature = 0 }) => (temperature > 1 ? ['temperature'] : [])],
];

function lacks(command: TranscriptionCommand, upstreamModel: string): readonly string[] {
  const { numSpeakers, tagAudioEvents } = command;
  return [
    ...(numSpeakers === undefined ? [] : ['num_speakers']),
    ...(tagAudioEvents === true ? ['tag_audio_events'] : []),
    ...LACKING.flatMap(([name, lackOf]) => (name.test(upstreamModel) ? lackOf(command) : [])),
  ];
}

/** What only a timed form of the response has. */
function timedFields(command: TranscriptionCommand): readonly string[] {
  return [
    ...(isTimedByWord(command) ? ['timestamps'] : []),
    ...(command.subtitles === true ? ['subtitles'] : []),
  ];
}

const isTimedByWord = ({ timestamps }: TranscriptionCommand): boolean =>
  timestamps === 'word' || timestamps === 'character';

function formOf(command: TranscriptionCommand): Form {
  if (command.diarize === true) return 'diarized_json';
  return command.subtitles === true || isTimedByWord(command) ? 'verbose_json' : 'json';
}

function fieldsOf(
  { language, temperature, subtitles }: TranscriptionCommand,
  upstreamModel: string,
  form: Form,
): FormFields {
  return {
    model: upstreamModel,
    language,
    temperature,
    response_format: form,
    // Long recordings are refused without it where speakers are told apart.
    chunking_strategy: form === 'diarized_json' ? 'auto' : undefined,
    ...(form === 'verbose_json' && {
      'timestamp_granularities[]': subtitles === true ? undefined : 'word',
    }),
  };
}

/** Undefined for a response without a text, or without the segments that subtitles need. */
function transcriptOf(
  json: JsonObject,
  { diarize, subtitles, timestamps }: TranscriptionCommand,
  providerRequestId: string | null,
): TranscriptionResult | undefined {
  if (carriesError(json)) return undefined;
  const segments = listAt(json, 'segments');
  const text = textAt(json, 'text') ?? (diarize ? joined(segments) : undefined);
  if (text === undefined || (subtitles && segments === null)) return undefined;
  return {
    text,
    language: textAt(json, 'language'),
    languageProbability: null,
    words: timestamps === 'none' ? [] : wordsOf(json, segments ?? []),
    srt: subtitles ? subRipOf((segments ?? []).map(subtitleOf)) : null,
    providerRequestId,
  };
}

function joined(segments: readonly JsonObject[] | null): string | undefined {
  return segments?.map((segment) => (textAt(segment, 'text') ?? '').trim()).join(' ');
}

/** Timed words, with the spaces between them as the port has them; else the words of the segments. */
function wordsOf(json: JsonObject, segments: readonly JsonObject[]): TranscriptWord[] {
  const words = listAt(json, 'words');
  const all = words?.length ? words.map(timedWord) : segments.flatMap(wordsOfSegment);
  return spaced(all);
}

function timedWord(word: JsonObject): TranscriptWord {
  return {
    text: (textAt(word, 'word') ?? '').trim(),
    type: 'word',
    start: numberAt(word, 'start'),
    end: numberAt(word, 'end'),
    speaker: null,
  };
}

/** A segment tells the times of its first and its last word only. */
function wordsOfSegment(segment: JsonObject): TranscriptWord[] {
  const texts = (textAt(segment, 'text') ?? '').split(WORD_EDGE).map((text) => text.trim());
  const speaker = textAt(segment, 'speaker');
  const words = texts.filter((text) => text !== '');
  return words.map((text, index) => ({
    text,
    type: 'word',
    start: index === 0 ? numberAt(segment, 'start') : null,
    end: index === words.length - 1 ? numberAt(segment, 'end') : null,
    speaker,
  }));
}

function subtitleOf(segment: JsonObject): Subtitle {
  return {
    start: numberAt(segment, 'start'),
    end: numberAt(segment, 'end'),
    text: textAt(segment, 'text') ?? '',
    speaker: textAt(segment, 'speaker'),
  };
}
