import { type HeardWord, transcriptOf } from '../elevenlabs/transcript.js';
import { readForm } from '../http/request-body.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { hearAudio } from '../media/audio-files/heard-audio.js';
import { refuse } from './openai-errors.js';

const FORMATS = ['json', 'verbose_json', 'diarized_json'];
const KNOWN_FIELDS = new Set([
  ...['model', 'language', 'prompt', 'response_format', 'temperature', 'chunking_strategy'],
  ...['timestamp_granularities[]', 'stream', 'include[]'],
]);
const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];

/** `POST /v1/audio/transcriptions`: takes a multipart form, answers the words of the recording. */
export async function audioTranscriptions(exchange: SandboxExchange): Promise<void> {
  const form = await readForm(exchange.body, exchange.header('content-type'));
  const file = form?.files.get('file');
  if (form === undefined || file === undefined) return refuse('A file is required.', 'file');
  const unknown = [...form.fields.keys()].find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const format = form.fields.get('response_format') ?? 'json';
  if (!form.fields.get('model')) refuse('Provide a model parameter.', 'model');
  if (!FORMATS.includes(format)) refuse('Invalid response_format.', 'response_format');
  const heard = await hearAudio(file);
  if (heard === undefined) return refuse('The audio file could not be decoded.', 'file');
  const { text, words } = transcriptOf(heard);
  const spoken = words.filter(({ type }) => type === 'word');
  const { seconds } = heard;
  const usage = { type: 'duration', seconds: Math.ceil(seconds) };
  const whole = { task: 'transcribe', duration: seconds, text, usage };
  const answers: Readonly<Record<string, object>> = {
    json: { text, usage },
    verbose_json: {
      ...whole,
      language: form.fields.get('language') ?? 'english',
      ...(form.fields.get('timestamp_granularities[]') === 'word'
        ? { words: spoken.map(({ text: word, start, end }) => ({ word, start, end })) }
        : { segments: segmentsOf(spoken).map((segment, id) => ({ id, ...segment })) }),
    },
    diarized_json: {
      ...whole,
      segments: segmentsOf(spoken).map(({ speaker, ...segment }, index) => ({
        type: 'transcript.text.segment',
        id: `seg_${index + 1}`,
        speaker: LETTERS[speaker % LETTERS.length],
        ...segment,
      })),
    },
  };
  await exchange.json(200, answers[format], { 'x-request-id': exchange.requestId });
}

interface Segment {
  readonly start: number;
  end: number;
  text: string;
  readonly speaker: number;
}

/** One segment for each sentence of a speaker. */
function segmentsOf(words: readonly HeardWord[]): Segment[] {
  const segments: Segment[] = [];
  for (const { text, start, end, speaker } of words) {
    const last = segments.at(-1);
    if (last?.speaker !== speaker || /[.!?]$/.test(last.text)) {
      segments.push({ start, end, text, speaker });
    } else {
      last.text += ` ${text}`;
      last.end = end;
    }
  }
  return segments;
}
