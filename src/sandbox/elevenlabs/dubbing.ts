import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { type SandboxRoute, WireFault } from '../http/protocol.js';
import type { Job, JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import type { Studio } from './audio-answer.js';
import { guessLanguage, LANGUAGES_FLASH } from './languages.js';
import { transcriptOf } from './transcript.js';
import { uploadedAudio, refuseAudio } from './body-fields.js';
import { encodeSound, encodedFile } from '../media/audio-files/audio-encoder.js';
import { MP3_128 } from '../media/audio-files/audio-format.js';
import { mp4File } from '../media/mp4-file.js';
import { hearAudio, shapedSound } from '../media/audio-files/heard-audio.js';
import { speechOfLength } from '../media/sound/speech.js';

const KIND = 'dubbing';
const DUBBER = { pitchHz: 120, speed: 1 };
const MAX_SPEAKERS = 32;
/** From this progress on a project is in state `dubbing`; before, it is prepared. */
const DUBBING_FROM = 30;

/** What answers and the dub of a project are made from. */
interface Project {
  readonly name: string;
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** The words of the source. */
  readonly text: string;
  readonly seconds: number;
  readonly hasVideo: boolean;
  /** Name of the source on the shelf. */
  readonly source: string;
}

/** Where projects and their sources are kept. */
export interface DubbingRooms {
  readonly jobs: JobBoard;
  readonly shelf: MediaShelf;
}

/** Dubbing: creates a project, answers its state, sends the dub, deletes it. */
export function dubbingRoutes(studio: Studio, rooms: DubbingRooms): SandboxRoute[] {
  const route = (
    method: SandboxRoute['method'],
    path: string,
    operation: string,
    handle: SandboxRoute['handle'],
  ): SandboxRoute => ({ method, path: `/v1/dubbing${path}`, operation, handle });
  return [
    route('POST', '', 'dubbing_create', (exchange) => create(exchange, rooms, studio)),
    route('GET', '/{dubbing_id}', 'dubbing_retrieve', (exchange) => show(exchange, rooms)),
    route('GET', '/{dubbing_id}/audio/{language}', 'dubbing_content', (exchange) =>
      download(exchange, rooms),
    ),
    route('DELETE', '/{dubbing_id}', 'dubbing_delete', (exchange) => remove(exchange, rooms)),
  ];
}

async function create(
  exchange: SandboxExchange,
  rooms: DubbingRooms,
  studio: Studio,
): Promise<void> {
  const { file, heard, fields } = await uploadedAudio(exchange, 'file');
  const target = fields.requiredText('target_lang');
  const source = fields.text('source_lang') ?? 'auto';
  const name = fields.text('name') ?? 'dubbing';
  fields.whole('num_speakers', 0, MAX_SPEAKERS);
  for (const flag of ['highest_resolution', 'drop_background_audio', 'watermark'])
    fields.flag(flag);
  fields.finish();
  if (!LANGUAGES_FLASH.has(target) || (source !== 'auto' && !LANGUAGES_FLASH.has(source))) {
    const message = 'The language is not supported for dubbing.';
    refuseAudio('unsupported_language', message);
  }
  const { text } = transcriptOf(heard, studio.spoken.recall(file));
  const job = rooms.jobs.accept<Project>(exchange, {
    kind: KIND,
    label: name,
    facts: {
      name,
      sourceLanguage: source === 'auto' ? guessLanguage(text) : source,
      targetLanguage: target,
      text,
      seconds: heard.seconds,
      hasVideo: heard.hasVideo,
      source: rooms.shelf.put({ bytes: file, contentType: 'application/octet-stream' }, 'src'),
    },
  });
  const body = { dubbing_id: job.id, expected_duration_sec: job.workMs / 1000 };
  await exchange.json(200, body, { 'request-id': exchange.requestId });
}

async function show(exchange: SandboxExchange, rooms: DubbingRooms): Promise<void> {
  const job = find(exchange, rooms);
  if (await rooms.jobs.spoilPoll(exchange, job)) return;
  const { name, sourceLanguage, targetLanguage, hasVideo, seconds } = job.facts;
  const status = statusOf(job, rooms);
  const media = {
    content_type: hasVideo ? 'video/mp4' : 'audio/mpeg',
    duration: seconds,
  };
  await exchange.json(200, {
    dubbing_id: job.id,
    name,
    status,
    source_language: sourceLanguage,
    target_languages: [targetLanguage],
    editable: false,
    created_at: new Date(job.record.createdMs).toISOString(),
    media_metadata: job.magic.has('no-result') ? null : media,
    error: status === 'failed' ? 'The speech could not be separated.' : null,
  });
}

function statusOf(job: Job, { jobs }: DubbingRooms): string {
  const { phase, word, progress } = jobs.stateOf(job);
  if (word !== undefined) return word;
  if (phase === 'working') return progress < DUBBING_FROM ? 'preparing' : 'dubbing';
  return phase === 'done' ? 'dubbed' : phase;
}

async function download(exchange: SandboxExchange, rooms: DubbingRooms): Promise<void> {
  const job = find(exchange, rooms);
  const { targetLanguage, hasVideo } = job.facts;
  const isReady = rooms.jobs.stateOf(job).phase === 'done';
  if (!isReady || exchange.params.language !== targetLanguage) {
    const message = `Dubbing ${job.id} is not dubbed into this language.`;
    throw new WireFault({ status: 425, code: 'dubbing_not_dubbed', message });
  }
  if (await rooms.jobs.spoilDownload(exchange, job)) return;
  const source = (await rooms.shelf.get(job.facts.source))?.bytes;
  const file = job.magic.has('no-result')
    ? Buffer.alloc(0)
    : source && (await dubFile(source, job.facts));
  if (file === undefined) throw new WireFault({ status: 500, message: 'The dub is unreadable.' });
  await exchange.send(200, { 'content-type': hasVideo ? 'video/mp4' : 'audio/mpeg' }, file);
}

async function remove(exchange: SandboxExchange, rooms: DubbingRooms): Promise<void> {
  rooms.jobs.remove(find(exchange, rooms));
  await exchange.json(200, { status: 'ok' });
}

function find(exchange: SandboxExchange, { jobs }: DubbingRooms): Job<Project> {
  const id = exchange.params.dubbing_id ?? '';
  const job = jobs.find<Project>(KIND, id);
  if (job !== undefined) return job;
  const message = `Dubbing ${id} was not found.`;
  throw new WireFault({ status: 404, code: 'dubbing_not_found', message });
}
/** The spoken words, and their language. */
interface DubFile {
  readonly text: string;
  readonly targetLanguage: string;
}

/**
 * The dub of a recording as MP3: its words in a voice of the target language, with the length and loudness of the
 * source. The dub of a video is an MP4 with the same pictures. Undefined when the source cannot be read.
 */
async function dubFile(
  source: Buffer,
  dub: DubFile,
): Promise<Buffer | AsyncIterable<Uint8Array> | undefined> {
  const heard = await hearAudio(source);
  if (heard === undefined) return undefined;
  const seed = dub.targetLanguage.charCodeAt(0);
  const speech = speechOfLength(dub.text, heard.seconds, { ...DUBBER, seed });
  const sound = shapedSound(speech, heard.loudness);
  return heard.hasVideo
    ? mp4File(await encodedFile(sound, MP3_128, dub.text), source)
    : encodeSound(sound, MP3_128, dub.text);
}
