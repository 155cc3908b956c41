import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireFault } from '../http/protocol.js';
import type { Studio } from './audio-answer.js';
import type { BodyFields } from './body-fields.js';
import { guessLanguage, iso3Of, LANGUAGES_ALL } from './languages.js';
import { toSrt } from './subtitles.js';
import { type HeardWord, transcriptOf } from './transcript.js';
import { uploadedAudio } from './uploaded-audio.js';

const MODELS = ['scribe_v1', 'scribe_v2'];
const MIN_SECONDS = 0.1;
const MAX_SPEAKERS = 32;
const MAX_SEED = 2_147_483_647;

/** `POST /v1/speech-to-text`: takes a multipart form, answers the words of the recording. */
export async function speechToText(exchange: SandboxExchange, studio: Studio): Promise<void> {
  const { file, heard, fields } = await uploadedAudio(exchange, 'file');
  const options = readOptions(fields);
  if (!MODELS.includes(options.model)) refuse('unsupported_model', 'Unknown transcription model.');
  if (options.language !== undefined && !LANGUAGES_ALL.has(options.language)) {
    refuse('unsupported_language', `Language ${options.language} is not supported.`);
  }
  if (heard.seconds < MIN_SECONDS) refuse('audio_too_short', 'The audio is too short.');
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

function refuse(code: string, message: string): never {
  throw new WireFault({ status: 400, code, message });
}
