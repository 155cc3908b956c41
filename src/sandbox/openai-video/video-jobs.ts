import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireFault } from '../http/protocol.js';
import type { Job, JobState } from '../jobs/job.js';
import type { JobBoard } from '../jobs/job-board.js';
import { Magic } from '../magic-inputs.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { isDrawable } from '../video/h264-encoder.js';
import { VideoStudio } from '../video/video-studio.js';
import { readVideoRequest, type VideoRequest } from './video-request.js';

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
    const job = await this.jobs.accept(exchange, { kind: KIND, label: facts.prompt, facts });
    await this.answer(exchange, job);
  }

  /** `GET /videos/{id}` */
  async show(exchange: SandboxExchange): Promise<void> {
    const job = await this.find(exchange);
    if (await this.jobs.spoilPoll(exchange, job)) return;
    await this.answer(exchange, job);
  }

  /** `GET /videos/{id}/content` */
  async content(exchange: SandboxExchange): Promise<void> {
    const job = await this.find(exchange);
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

  private async find(exchange: SandboxExchange): Promise<Job<VideoRequest>> {
    const job = await this.jobs.find<VideoRequest>(KIND, exchange.params.video_id ?? '');
    return job ?? Promise.reject(missing());
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
