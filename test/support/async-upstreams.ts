import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { silentWav } from './dubbing-harness.js';
import { type SeenRequest, StubUpstream } from './stub-upstream.js';

const JSON_TYPE = 'application/json';
const POLL = /\/(?:dubbing|videos)\/(job-\d+)$|jobId=(job-\d+)/;
const FILE = /\/content$|\/audio\/\w+$/;

/**
 * One server that is every provider of asynchronous work, and the host of sources. A job is pending at the first poll and
 * done at the second.
 */
export class AsyncUpstreams {
  /** Paths of the orders it was sent, oldest first. */
  readonly orders: string[] = [];
  private readonly polls = new Map<string, number>();

  private constructor(
    readonly stub: StubUpstream,
    readonly dub: Buffer,
    readonly video: Buffer,
  ) {
    stub.reply = (response, request) => {
      const { type, body } = this.answer(request);
      response.setHeader('content-type', type);
      response.end(body);
    };
  }

  static async start(): Promise<AsyncUpstreams> {
    const video = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
    return new AsyncUpstreams(await StubUpstream.start(), silentWav(1), video);
  }

  get settings(): NodeJS.ProcessEnv {
    const { url } = this.stub;
    return {
      ELEVENLABS_API_KEY: 'stub-provider-key',
      ELEVENLABS_BASE_URL: url,
      TTAPI_API_KEY: 'stub-provider-key',
      TTAPI_BASE_URL: url,
      VIDEO_API_KEY: 'stub-provider-key',
      VIDEO_BASE_URL: url,
    };
  }

  /** `host:port`, as in `EGRESS_ALLOW`. */
  get host(): string {
    return new URL(this.stub.url).host;
  }

  private answer({ method, url }: SeenRequest): { type: string; body: string | Buffer } {
    if (url.endsWith('.wav')) return { type: 'audio/wav', body: this.dub };
    if (FILE.test(url)) {
      return url.includes('/dubbing/')
        ? { type: 'audio/wav', body: this.dub }
        : { type: 'video/mp4', body: this.video };
    }
    const data = method === 'POST' ? this.ordered(url) : this.polled(url);
    return { type: JSON_TYPE, body: JSON.stringify(data) };
  }

  private ordered(url: string): object {
    this.orders.push(url);
    const id = `job-${this.orders.length}`;
    if (url.endsWith('/upload')) return { status: 'SUCCESS', data: { music_id: 'm-1' } };
    if (url.includes('/suno/')) return { status: 'SUCCESS', data: { job_id: id } };
    if (url.endsWith('/dubbing')) return { dubbing_id: id, expected_duration_sec: 1 };
    return { id, object: 'video', status: 'queued', progress: 0 };
  }

  private polled(url: string): object {
    const [, job, song] = POLL.exec(url) ?? [];
    const id = job ?? song ?? '';
    const polls = (this.polls.get(id) ?? 0) + 1;
    this.polls.set(id, polls);
    const isDone = polls > 1;
    if (url.includes('/suno/')) {
      const musics = [{ musicId: 'm-2', audioUrl: 'https://media.example/a.mp3', duration: '10' }];
      return isDone
        ? { status: 'SUCCESS', data: { musics } }
        : { status: 'ON_QUEUE', data: { progress: '50%' } };
    }
    if (url.includes('/dubbing/')) {
      const media = { content_type: 'audio/wav', duration: 1 };
      return { dubbing_id: id, status: isDone ? 'dubbed' : 'dubbing', media_metadata: media };
    }
    const progress = isDone ? 100 : 50;
    return { id, object: 'video', status: isDone ? 'completed' : 'in_progress', progress };
  }
}
