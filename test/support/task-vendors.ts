import { setTimeout as sleep } from 'node:timers/promises';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { silentWav } from './dubbing-harness.js';
import { ADMIN_TOKEN, startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { postJson, send } from './http-answer.js';
import { StubUpstream } from './stub-upstream.js';
import { BRISK } from './video-harness.js';

/** What every answer of the vendors names as the id of its request. */
export const VENDOR_REQUEST_ID = 'req-4711';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const CREDIT = 10_000_000n;
const JSON_HEAD = { 'content-type': 'application/json', 'x-request-id': VENDOR_REQUEST_ID };
/** Accepted by all three. */
const JOB = { id: 'job-1', dubbing_id: 'job-1', status: 'SUCCESS', data: { job_id: 'job-1' } };

/** The kinds of tasks that vendors do. */
export type TaskVendorKind = 'video' | 'dub' | 'song';

/** What operators see of a task. */
interface Shown {
  readonly task_status: string;
  readonly unknown_state: string | null;
  readonly provider_error: object | null;
  readonly provider_request_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A gateway, and one server that is every vendor of tasks and says what a test tells it. */
export class TaskVendors {
  /** The answer to every submission; a job where there is no body. */
  submission: { status?: number; body?: object } = {};
  /** The answer to every poll. */
  polled: object = {};
  /** How many submissions have arrived. */
  orders = 0;
  account!: TestAccount;

  private constructor(
    readonly gateway: TestGateway,
    private readonly stub: StubUpstream,
    private readonly video: Buffer,
  ) {
    stub.reply = (response, { method, url }) => {
      if (url.endsWith('.wav') || url.includes('/audio/fr')) {
        return response.writeHead(200, { 'content-type': 'audio/wav' }).end(silentWav(5));
      }
      if (url.endsWith('/content')) {
        return response.writeHead(200, { 'content-type': 'video/mp4' }).end(this.video);
      }
      if (method === 'POST') this.orders += 1;
      const answer = method === 'POST' ? this.submission : {};
      const { status = 200, body = method === 'POST' ? JOB : this.polled } = answer;
      return response.writeHead(status, JSON_HEAD).end(JSON.stringify(body));
    };
  }

  static async open(): Promise<TaskVendors> {
    const video = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
    const stub = await StubUpstream.start();
    const gateway = await startTestGateway({
      ...BRISK,
      TTAPI_API_KEY: 'stub-provider-key',
      TTAPI_BASE_URL: stub.url,
      VIDEO_API_KEY: 'stub-provider-key',
      VIDEO_BASE_URL: stub.url,
      ELEVENLABS_API_KEY: 'stub-provider-key',
      ELEVENLABS_BASE_URL: stub.url,
      EGRESS_ALLOW: new URL(stub.url).host,
    });
    return new TaskVendors(gateway, stub, video);
  }

  /** A new account, and vendors that accept. */
  async clear(): Promise<void> {
    this.submission = {};
    this.polled = {};
    this.orders = 0;
    this.account = await this.gateway.account(CREDIT);
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.stub.stop();
  }

  get url(): string {
    return this.stub.url;
  }

  /** The public id of a new task. */
  async submit(kind: TaskVendorKind): Promise<string> {
    const [path, body] = this.orderOf(kind);
    const answer = await postJson(`${this.gateway.url}${path}`, this.account.headers, body);
    if (answer.status !== 200 && answer.status !== 202) throw new Error(answer.bytes.toString());
    return (answer.json as { id: string }).id;
  }

  /** The task once the fact holds. */
  async until(id: string, is: (task: Shown) => boolean): Promise<Shown> {
    for (;;) {
      const answer = await send(`${this.gateway.url}/admin/tasks/${id}`, { headers: ADMIN });
      const task = answer.json as Shown;
      if (is(task)) return task;
      await sleep(20);
    }
  }

  ended(id: string): Promise<Shown> {
    return this.until(id, ({ task_status: status }) => !['queued', 'processing'].includes(status));
  }

  /** What the account holds, in micro-USD. */
  async held(): Promise<bigint> {
    return (await this.gateway.balance(this.account.accountId)).held;
  }

  private orderOf(kind: TaskVendorKind): readonly [string, object] {
    switch (kind) {
      case 'video':
        return ['/v1/videos', { model: 'vid-motion', prompt: 'The sea', seconds: '5' }];
      case 'song':
        return ['/v1/music/generations', { model: 'song-music', prompt: 'The sea' }];
      case 'dub':
        return [
          '/v1/audio/dubbing',
          { model: 'aud-dubbing-v1', source_url: `${this.url}/a.wav`, target_language: 'fr' },
        ];
    }
  }
}
