import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { type OwnSongHarness, SongHarness } from './song-harness.js';
import { StubUpstream } from './stub-upstream.js';
import { DAY_MS } from '../../src/common/time/spans.js';

const NEVER_MS = String(DAY_MS);

/** Songs of a gateway whose tasks take a step only when they are told to, and whose provider is a stub. */
export class StubbedSongs {
  /** The provider's answer on a path, for any request. By default it is empty. */
  readonly answers = new Map<string, { status?: number; body: object | string }>();

  private constructor(
    readonly stub: StubUpstream,
    readonly harness: OwnSongHarness,
  ) {}

  /** Starts both; call `stop` in `afterAll`. */
  static async start(): Promise<StubbedSongs> {
    const stub = await StubUpstream.start();
    const harness = await SongHarness.start({
      TTAPI_API_KEY: 'stub-provider-key',
      TTAPI_BASE_URL: stub.url,
      TASK_TICK_MS: NEVER_MS,
    });
    const songs = new StubbedSongs(stub, harness);
    stub.reply = (response, { url }) => {
      const { pathname } = new URL(url, stub.url);
      const { status = 200, body } = songs.answers.get(pathname) ?? { body: '' };
      if (body === 'reset') return response.destroy();
      return response.writeHead(status).end(JSON.stringify(body));
    };
    return songs;
  }

  /** Forgets the answers and what was asked. */
  clear(): void {
    this.answers.clear();
    this.stub.seen.length = 0;
  }

  async stop(): Promise<void> {
    await this.harness.stop();
    await this.stub.stop();
  }

  /** How often the provider was asked on the path. */
  asked(path: string): number {
    return this.stub.seen.filter(({ url }) => url.startsWith(path)).length;
  }

  /** All waiting work takes one step, this many times. */
  async step(times = 1, app = this.harness.gateway.app): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await this.harness.gateway.dataSource.query(
        `UPDATE task_work SET due_at = now() WHERE due_at > now()`,
      );
      const worker = app.get(TaskWorker);
      await worker.tick();
      await worker.whenIdle();
    }
  }
}
