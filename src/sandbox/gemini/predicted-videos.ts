import { asArray, asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { WireFault } from '../http/protocol.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { Job, JobBoard } from '../jobs/job-board.js';
import { Magic } from '../magic-inputs.js';
import { pixelsOf, type VideoRequest } from '../openai-video/openai-video-protocol.js';
import { VideoStudio } from '../video/drawn-video.js';
import { refuseContent } from './gemini-errors.js';

const KIND = 'gemini-video';
const MAX_SECONDS = 60;

/** Videos of Gemini: jobs by name, whose finished file is below `files/`. The images that come with a request are not looked at. */
export class PredictedVideos {
  private readonly studio = new VideoStudio();

  constructor(private readonly jobs: JobBoard) {}

  /** `models/{model}:predictLongRunning` */
  async create(exchange: SandboxExchange, model: string): Promise<void> {
    const facts = requestOf(exchange.body, model);
    const job = this.jobs.accept(exchange, { kind: KIND, label: facts.prompt, facts });
    await exchange.json(200, { name: nameOf(job) });
  }

  /** `models/{model}/operations/{operation}` */
  async show(exchange: SandboxExchange): Promise<void> {
    const job = this.find(exchange.params.operation);
    if (await this.jobs.spoilPoll(exchange, job)) return;
    const name = nameOf(job);
    const { phase } = this.jobs.stateOf(job);
    if (phase === 'failed') {
      const error = { code: 13, message: 'The video could not be generated.' };
      return exchange.json(200, { name, done: true, error });
    }
    if (phase !== 'done') return exchange.json(200, { name });
    const uri = `http://${exchange.header('host') ?? ''}/gemini/v1beta/files/${job.id}:download?alt=media`;
    const generatedSamples = job.magic.has('no-result') ? [] : [{ video: { uri } }];
    const response = { generateVideoResponse: { generatedSamples } };
    return exchange.json(200, { name, done: true, response });
  }

  /** `files/{file}:download` */
  async content(exchange: SandboxExchange): Promise<void> {
    const [id, method] = (exchange.params.file ?? '').split(':');
    const job = this.find(method === 'download' ? id : undefined);
    if (await this.jobs.spoilDownload(exchange, job)) return;
    const { prompt, seconds, width, height } = job.facts;
    const request = { prompt: Magic.strip(prompt), seconds: Number(seconds), width, height };
    await exchange.send(200, { 'content-type': 'video/mp4' }, await this.studio.draw(request));
  }

  private find(id: string | undefined): Job<VideoRequest> {
    const job = this.jobs.find<VideoRequest>(KIND, id ?? '');
    if (!job) throw new WireFault({ status: 404, message: 'The operation was not found.' });
    return job;
  }
}

const nameOf = ({ id, facts }: Job<VideoRequest>): string =>
  `models/${facts.model}/operations/${id}`;

function requestOf(body: Buffer, model: string): VideoRequest {
  const request = asRecord(parseJson(body)) ?? {};
  const prompt = asRecord(asArray(request.instances)?.[0])?.prompt;
  if (typeof prompt !== 'string' || prompt === '')
    refuseContent('prompt is empty', 'instances[0].prompt');
  return { model, prompt, ...lookOf(asRecord(request.parameters) ?? {}) };
}

function lookOf(parameters: JsonRecord): Omit<VideoRequest, 'model' | 'prompt'> {
  const { durationSeconds = 8, aspectRatio = '16:9', resolution = '720p' } = parameters;
  const seconds = Number(durationSeconds);
  if (!Number.isInteger(durationSeconds) || seconds < 1 || seconds > MAX_SECONDS)
    refuseContent('duration is out of range', 'parameters.durationSeconds');
  const lines = resolution === '4k' ? '2160p' : resolution;
  return {
    seconds: String(seconds),
    ...pixelsOf({ aspect_ratio: aspectRatio, resolution: lines }),
  };
}
