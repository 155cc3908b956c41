import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { Studio } from './audio-answer.js';
import { type BodyFields, uploadedAudio, refuseAudio } from './body-fields.js';
import { guessLanguage, iso3Of, LANGUAGES_ALL } from './languages.js';
import { type HeardWord, transcriptOf, spreadWords } from './transcript.js';
import { Magic } from '../magic-inputs.js';

const MODELS = ['scribe_v1', 'scribe_v2'];
const MIN_SECONDS = 0.1;
const MAX_SPEAKERS = 32;
const MAX_SEED = 2_147_483_647;

/** `POST /v1/speech-to-text`: takes a multipart form, answers the words of the recording. */
export async function speechToText(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const { file, heard, fields } = await uploadedAudio(exchange, 'file');
  const options = readOptions(fields);
  if (!MODELS.includes(options.model))
    refuseAudio('unsupported_model', 'Unknown transcription model.');
  if (options.language !== undefined && !LANGUAGES_ALL.has(options.language)) {
    refuseAudio('unsupported_language', `Language ${options.language} is not supported.`);
  }
  if (heard.seconds < MIN_SECONDS) refuseAudio('audio_too_short', 'The audio is too short.');
  const transcript = transcriptOf(heard, studio.spoken.recall(file));
  const words = transcript.words
    .filter(({ type }) => options.tagEvents || type !== 'audio_event')
    .map((word) => ({ ...word, speaker: word.speaker % options.numSpeakers }));
  await exchange.json(
    200,
    {
      language_code: iso3Of(options.language ?? guessLanguage(transcript.text)),
      language_probability: options.language === undefined ? 0.98 : 1,
      text: words.map((word) => word.text).join(''),
      words: options.granularity === 'none' ? [] : words.map((word) => wordView(word, options)),
      ...(options.subtitles.length > 0 && {
        additional_formats: options.subtitles.map((asked) => subtitleView(asked, words)),
      }),
      transcription_id: exchange.requestId,
      audio_duration_secs: heard.seconds,
    },
    { 'request-id': exchange.requestId },
  );
}

type Options = ReturnType<typeof readOptions>;

function readOptions(fields: BodyFields) {
  fields.number('temperature', 0, 2);
  fields.whole('seed', 0, MAX_SEED);
  const options = {
    model: fields.requiredText('model_id'),
    language: fields.text('language_code'),
    diarize: fields.flag('diarize') ?? false,
    numSpeakers: fields.whole('num_speakers', 1, MAX_SPEAKERS) ?? MAX_SPEAKERS,
    tagEvents: fields.flag('tag_audio_events') ?? true,
    granularity: fields.oneOf('timestamps_granularity', ['none', 'word', 'character']) ?? 'word',
    subtitles: fields.list('additional_formats', false).map((asked) => ({
      format: asked.oneOf('format', ['srt', 'txt']) ?? 'srt',
      includeSpeakers: asked.flag('include_speakers') ?? false,
      maxLineCharacters: asked.whole('max_characters_per_line', 1, 1000) ?? 42,
      maxSegmentSeconds: asked.number('max_segment_duration_s', 0.1, 1000) ?? 4,
      maxSegmentCharacters: asked.whole('max_segment_chars', 1, 1000) ?? 84,
    })),
  };
  fields.finish();
  return options;
}

function wordView(word: HeardWord, options: Options) {
  return {
    text: word.text,
    start: word.start,
    end: word.end,
    type: word.type,
    logprob: -0.01,
    ...(options.diarize && { speaker_id: `speaker_${word.speaker}` }),
    ...(options.granularity === 'character' && { characters: word.characters }),
  };
}

function subtitleView(asked: Options['subtitles'][number], words: readonly HeardWord[]) {
  const isSrt = asked.format === 'srt';
  return {
    requested_format: asked.format,
    file_extension: asked.format,
    content_type: isSrt ? 'application/x-subrip' : 'text/plain',
    is_base64_encoded: false,
    content: isSrt ? toSrt(words, asked) : words.map((word) => word.text).join(''),
  };
}

const MAX_CHARACTERS = 675_000;
/** The loss that the sandbox tells for every word; 0 is perfect. */
const LOSS = 0.05;

/**
 * `POST /v1/forced-alignment`: when each word of a given text is spoken. The words are spread over the length of the
 * recording.
 */
export async function forcedAlignment(exchange: SandboxExchange): Promise<void> {
  const { heard, fields } = await uploadedAudio(exchange, 'file');
  const text = Magic.strip(fields.requiredText('text'));
  fields.finish();
  if (text.trim() === '' || text.length > MAX_CHARACTERS) {
    refuseAudio('invalid_text', 'The text cannot be aligned.');
  }
  const words = spreadWords(text, heard.seconds);
  await exchange.json(
    200,
    {
      characters: words.flatMap((word) => word.characters),
      words: words
        .filter(({ type }) => type !== 'spacing')
        .map(({ text: word, start, end }) => ({ text: word, start, end, loss: LOSS })),
      loss: LOSS,
    },
    { 'request-id': exchange.requestId },
  );
}

/** Where subtitles are cut. Names and defaults are those of the vendor. */
export interface SubtitleOptions {
  readonly includeSpeakers: boolean;
  readonly maxSegmentSeconds: number;
  readonly maxSegmentCharacters: number;
  readonly maxLineCharacters: number;
}

/**
 * Words as SRT: numbered segments with times. A segment ends at a length, at a duration and where the speaker changes.
 */
export function toSrt(words: readonly HeardWord[], options: SubtitleOptions): string {
  return segmentsOf(words, options)
    .map((segment, index) => {
      const first = segment[0];
      const start = first?.start ?? 0;
      const end = segment.at(-1)?.end ?? start;
      const speaker = options.includeSpeakers ? `[speaker_${first?.speaker ?? 0}] ` : '';
      const text = `${speaker}${segment.map((word) => word.text).join(' ')}`;
      return `${index + 1}\n${clock(start)} --> ${clock(end)}\n${wrap(text, options.maxLineCharacters)}\n`;
    })
    .join('\n');
}

function segmentsOf(
  words: readonly HeardWord[],
  options: SubtitleOptions,
): (readonly HeardWord[])[] {
  const segments: HeardWord[][] = [];
  let characters = 0;
  for (const word of words.filter(({ type }) => type !== 'spacing')) {
    const open = segments.at(-1);
    const first = open?.[0];
    const isFull =
      first?.speaker !== word.speaker ||
      word.end - first.start > options.maxSegmentSeconds ||
      characters + word.text.length + 1 > options.maxSegmentCharacters;
    if (isFull) segments.push([word]);
    else open?.push(word);
    characters = (isFull ? 0 : characters + 1) + word.text.length;
  }
  return segments;
}

function wrap(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/** Seconds as `HH:MM:SS,mmm`. */
function clock(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(
    (value) => String(Math.floor(value)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${rest},${String(ms % 1000).padStart(3, '0')}`;
}
