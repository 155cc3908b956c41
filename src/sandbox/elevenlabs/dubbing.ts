import { LRUCache } from 'lru-cache';
import { SystemClock } from '../../common/time/clock.js';
import type { Exchange } from '../http/exchange.js';
import { type Route, WireFault } from '../http/protocol.js';
import { AUDIO_FORMATS } from '../media/audio-format.js';
import { encodeSound } from '../media/audio-encoder.js';
import { dubbedVideo } from '../media/dubbed-video.js';
import type { HeardAudio } from '../media/heard-audio.js';
import { shapedSound } from '../media/shaped-sound.js';
import { speechOfLength } from '../media/speech.js';
import type { Studio } from './audio-answer.js';
import { guessLanguage, LANGUAGES_FLASH } from './languages.js';
import { transcriptOf } from './transcript.js';
import { uploadedAudio } from './uploaded-audio.js';

/** Bytes of source files kept; the oldest projects go first. */
const MAX_KEPT_BYTES = 512 * 1024 * 1024;
const DEFAULT_WORK_MS = 1000;
const MAX_WORK_MS = 3_600_000;
const MAX_SPEAKERS = 32;
const DUB_FORMAT = 'mp3_44100_128';
const DUBBER = { pitchHz: 120, tract: 1, speed: 1 };

const clock = new SystemClock();

interface Project {
  readonly id: string;
  readonly name: string;
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly createdMs: number;
  readonly workMs: number;
  readonly fails: boolean;
  readonly text: string;
  readonly heard: HeardAudio;
  readonly file: Buffer;
}

type Projects = LRUCache<string, Project>;

/** Dubbing: create a project, ask for its state, fetch the dub. A project works for one second unless told otherwise. */
export function dubbingRoutes(studio: Studio): Route[] {
  const projects: Projects = new LRUCache({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ file }) => file.length + 1,
  });
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path: `/v1/dubbing${path}`,
    operation: 'dubbing',
    handle,
  });
  return [
    route('POST', '', (exchange) => create(exchange, projects, studio)),
    route('GET', '/{dubbing_id}', (exchange) => show(exchange, projects)),
    route('GET', '/{dubbing_id}/audio/{language}', (exchange) => download(exchange, projects)),
    route('DELETE', '/{dubbing_id}', (exchange) => remove(exchange, projects)),
  ];
}

async function create(exchange: Exchange, projects: Projects, studio: Studio): Promise<void> {
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
    throw new WireFault({ status: 400, code: 'unsupported_language', message });
  }
  const { text } = transcriptOf(heard, studio.spoken.recall(file));
  const workMs = exchange.magic.number('task-ms', MAX_WORK_MS) ?? DEFAULT_WORK_MS;
  projects.set(exchange.requestId, {
    id: exchange.requestId,
    name,
    sourceLanguage: source === 'auto' ? guessLanguage(text) : source,
    targetLanguage: target,
    createdMs: clock.nowMs(),
    workMs,
    fails: exchange.magic.has('task-fails'),
    text,
    heard,
    file,
  });
  const body = { dubbing_id: exchange.requestId, expected_duration_sec: workMs / 1000 };
  await exchange.json(200, body, { 'request-id': exchange.requestId });
}

function statusOf(project: Project): 'dubbing' | 'dubbed' | 'failed' {
  if (clock.nowMs() < project.createdMs + project.workMs) return 'dubbing';
  return project.fails ? 'failed' : 'dubbed';
}

async function show(exchange: Exchange, projects: Projects): Promise<void> {
  const project = find(exchange, projects);
  const status = statusOf(project);
  await exchange.json(200, {
    dubbing_id: project.id,
    name: project.name,
    status,
    source_language: project.sourceLanguage,
    target_languages: [project.targetLanguage],
    editable: false,
    created_at: new Date(project.createdMs).toISOString(),
    media_metadata: {
      content_type: project.heard.hasVideo ? 'video/mp4' : 'audio/mpeg',
      duration: project.heard.seconds,
    },
    error: status === 'failed' ? 'The speech could not be separated.' : null,
  });
}

async function download(exchange: Exchange, projects: Projects): Promise<void> {
  const project = find(exchange, projects);
  if (statusOf(project) !== 'dubbed' || exchange.params.language !== project.targetLanguage) {
    const message = `Dubbing ${project.id} is not dubbed into this language.`;
    throw new WireFault({ status: 425, code: 'dubbing_not_dubbed', message });
  }
  const audio = dubOf(project);
  if (!project.heard.hasVideo) {
    await exchange.send(200, { 'content-type': 'audio/mpeg' }, audio);
    return;
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of audio) pieces.push(piece);
  const video = await dubbedVideo(project.file, Buffer.concat(pieces));
  if (video === undefined)
    throw new WireFault({ status: 500, message: 'The video is unreadable.' });
  await exchange.send(200, { 'content-type': 'video/mp4' }, video);
}

async function remove(exchange: Exchange, projects: Projects): Promise<void> {
  projects.delete(find(exchange, projects).id);
  await exchange.json(200, { status: 'ok' });
}

/** The words of the source in a voice of the target language, as long and as loud as the source. */
function dubOf({ text, heard, targetLanguage }: Project): AsyncGenerator<Uint8Array> {
  const format = AUDIO_FORMATS.get(DUB_FORMAT);
  if (format === undefined) throw new Error(`${DUB_FORMAT} is not in the table`);
  const seed = targetLanguage.charCodeAt(0);
  const speech = speechOfLength(text, heard.seconds, { ...DUBBER, seed });
  return encodeSound(shapedSound(speech, heard.loudness), format, text);
}

function find(exchange: Exchange, projects: Projects): Project {
  const id = exchange.params.dubbing_id ?? '';
  const project = projects.get(id);
  if (project !== undefined) return project;
  const message = `Dubbing ${id} was not found.`;
  throw new WireFault({ status: 404, code: 'dubbing_not_found', message });
}
