import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { modelList, type SandboxProtocol, type SandboxRoute, WireFault } from '../http/protocol.js';
import type { JobBoard, Job, JobState } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { openAiErrorBody, refuse } from '../openai/openai-errors.js';
import { Magic } from '../magic-inputs.js';
import { isDrawable } from '../video/h264-encoder.js';
import { VideoStudio } from '../video/drawn-video.js';
import { asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { parseUrl } from '../../common/parse-url.js';

/**
 * Videos as OpenAI serves them: the key is a bearer token, requests are JSON, answers are a video object, the file is
 * at `/content`, errors are `{error}`.
 */
export function openAiVideoProtocol(jobs: JobBoard, shelf: MediaShelf): SandboxProtocol {
  const videos = new VideoJobs(jobs, shelf);
  const route = (
    method: SandboxRoute['method'],
    path: string,
    operation: string,
    handle: (exchange: SandboxExchange) => Promise<void>,
  ): SandboxRoute => ({ method, path: `/v1/videos${path}`, operation, handle });
  return {
    prefix: '/video',
    routes: [
      modelList('/v1/models', { object: 'list', data: [] }),
      route('POST', '', 'video_create', (exchange) => videos.create(exchange)),
      route('GET', '/{video_id}', 'video_retrieve', (exchange) => videos.show(exchange)),
      route('GET', '/{video_id}/content', 'video_content', (exchange) => videos.content(exchange)),
    ],
    keyOf: (exchange) => exchange.header('authorization')?.replace(/^Bearer\s+/i, ''),
    requestIdHeader: 'x-request-id',
    errorBody: openAiErrorBody,
  };
}

const KIND = 'video';
const RETENTION_SECONDS = 3600;
const STATUS = {
  queued: 'queued',
  working: 'in_progress',
  done: 'completed',
  failed: 'failed',
} as const;

/** Accepts videos, answers their state, and sends the files. */
export class VideoJobs {
  private readonly studio = new VideoStudio();

  constructor(
    private readonly jobs: JobBoard,
    private readonly shelf: MediaShelf,
  ) {}

  /** `POST /videos` */
  async create(exchange: SandboxExchange): Promise<void> {
    const facts = readVideoRequest(exchange.body);
    const job = this.jobs.accept(exchange, { kind: KIND, label: facts.prompt, facts });
    await this.answer(exchange, job);
  }

  /** `GET /videos/{id}` */
  async show(exchange: SandboxExchange): Promise<void> {
    const job = this.find(exchange);
    if (await this.jobs.spoilPoll(exchange, job)) return;
    await this.answer(exchange, job);
  }

  /** `GET /videos/{id}/content` */
  async content(exchange: SandboxExchange): Promise<void> {
    const job = this.find(exchange);
    if (await this.jobs.spoilDownload(exchange, job)) return;
    if (this.stateOf(job).phase !== 'done') {
      throw new WireFault({ status: 400, message: 'The video is not ready.' });
    }
    if (job.magic.has('no-result')) throw missing();
    const { prompt, seconds, width, height } = job.facts;
    const request = { prompt: Magic.strip(prompt), seconds: Number(seconds), width, height };
    const bytes = await this.studio.draw(request);
    if (!job.magic.has('url')) {
      await exchange.send(200, { 'content-type': 'video/mp4' }, bytes);
      return;
    }
    const name = this.shelf.put({ bytes, contentType: 'video/mp4' }, 'mp4');
    const location = this.shelf.urlOf(name, exchange.header('host'));
    await exchange.send(302, { location }, Buffer.alloc(0));
  }

  private find(exchange: SandboxExchange): Job<VideoRequest> {
    const job = this.jobs.find<VideoRequest>(KIND, exchange.params.video_id ?? '');
    if (job === undefined) throw missing();
    return job;
  }

  /** A size that cannot be drawn fails at the end of the work, as other failures do. */
  private stateOf(job: Job<VideoRequest>): JobState {
    const state = this.jobs.stateOf(job);
    const { width, height } = job.facts;
    return state.phase === 'done' && !isDrawable(width, height)
      ? { ...state, phase: 'failed' }
      : state;
  }

  private answer(exchange: SandboxExchange, job: Job<VideoRequest>): Promise<void> {
    const { phase, word, progress } = this.stateOf(job);
    const { model, prompt, seconds, width, height } = job.facts;
    const createdAt = Math.floor(job.record.createdMs / 1000);
    const completedAt = Math.floor((job.record.createdMs + job.workMs) / 1000);
    const error = { code: 'generation_failed', message: 'The video could not be generated.' };
    const video = {
      id: job.id,
      object: 'video',
      model,
      status: word ?? STATUS[phase],
      progress,
      created_at: createdAt,
      completed_at: phase === 'done' ? completedAt : null,
      expires_at: phase === 'done' ? completedAt + RETENTION_SECONDS : null,
      prompt,
      size: `${width}x${height}`,
      seconds,
      remixed_from_video_id: null,
      error: phase === 'failed' ? error : null,
    };
    return exchange.json(200, video, { 'x-request-id': exchange.requestId });
  }
}

function missing(): WireFault {
  return new WireFault({ status: 404, message: 'The video was not found.' });
}

const KNOWN_FIELDS = new Set([
  ...['model', 'prompt', 'seconds', 'size', 'aspect_ratio', 'resolution', 'audio'],
  ...['first_frame_url', 'last_frame_url', 'image_urls'],
]);
const MAX_PROMPT_CHARACTERS = 32_000;
const MAX_SECONDS = 60;
/** The longer side of a video that was requested by aspect ratio alone. */
const LONG_SIDE = 640;
const DEFAULT_SIZE = '1280x720';

/** The requested video. */
export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  /** As it was sent. */
  readonly seconds: string;
  readonly width: number;
  readonly height: number;
}

/** Reads the body of a submission; refuses what the vendor would refuse. */
export function readVideoRequest(body: Buffer): VideoRequest {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const prompt = textOf(request, 'prompt');
  if (prompt.length > MAX_PROMPT_CHARACTERS) refuse('The prompt is too long.', 'prompt');
  const seconds = textOf(request, 'seconds');
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > MAX_SECONDS) {
    refuse(`Invalid 'seconds': expected 1 to ${MAX_SECONDS}.`, 'seconds');
  }
  checkImages(request);
  checkSound(request);
  return { model: textOf(request, 'model'), prompt, seconds, ...pixelsOf(request) };
}

function textOf(request: JsonRecord, name: string): string {
  const value = request[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  return refuse(`Missing required parameter: '${name}'.`, name);
}

function checkImages(request: JsonRecord): void {
  const { image_urls: urls = [] } = request;
  const isList = Array.isArray(urls) && urls.every((url) => parseUrl(String(url)));
  if (!isList) refuse("Invalid 'image_urls'.", 'image_urls');
  for (const name of ['first_frame_url', 'last_frame_url']) {
    const url = request[name];
    if (url !== undefined && (typeof url !== 'string' || !parseUrl(url)))
      refuse(`Invalid '${name}'.`, name);
  }
}

/** Sounds are not drawn: a video of the sandbox is silent. */
function checkSound({ audio }: JsonRecord): void {
  if (audio !== undefined && typeof audio !== 'boolean') refuse("Invalid 'audio'.", 'audio');
}

/** The sides of the picture, in pixels, by `size`, or by `aspect_ratio` and `resolution`. */
export function pixelsOf({ size = DEFAULT_SIZE, aspect_ratio: ratio, resolution }: JsonRecord) {
  const lines = linesOf(resolution);
  if (ratio === undefined && lines === undefined) {
    return sidesOf(size, /^(\d{1,5})x(\d{1,5})$/, 'size');
  }
  const { width, height } = sidesOf(ratio ?? '16:9', /^(\d{1,2}):(\d{1,2})$/, 'aspect_ratio');
  const scale =
    lines === undefined ? LONG_SIDE / Math.max(width, height) : lines / Math.min(width, height);
  // Both sides are even numbers of pixels, as most players require.
  const side = (share: number) => Math.max(2, Math.round((share * scale) / 2) * 2);
  return { width: side(width), height: side(height) };
}

/** The pixels of the shorter side at a resolution such as `720p`; undefined where none is sent. */
function linesOf(resolution: unknown): number | undefined {
  if (resolution === undefined) return undefined;
  const [, lines] =
    /^([1-9]\d{2,3})p$/.exec(typeof resolution === 'string' ? resolution : '') ?? [];
  return lines === undefined ? refuse("Invalid 'resolution'.", 'resolution') : Number(lines);
}

function sidesOf(value: unknown, pattern: RegExp, name: string) {
  const [, width, height] = pattern.exec(String(value)) ?? [];
  const sides = { width: Number(width), height: Number(height) };
  return sides.width > 0 && sides.height > 0 ? sides : refuse(`Invalid '${name}'.`, name);
}
