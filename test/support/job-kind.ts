import { Readable } from 'node:stream';
import { SystemClock } from '../../src/common/time/clock.js';
import type { JsonObject } from '../../src/common/json-object.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { jsonBody } from '../../src/providers/http/request-body.js';
import { ProviderHttp } from '../../src/providers/http/provider-http.js';
import { UNNAMED_FILE_MS } from '../../src/platform/storage/stored-file.js';
import type { StoredFiles } from '../../src/platform/storage/stored-files.js';
import type { Task } from '../../src/tasks/task.js';
import type {
  CollectedContent,
  PollReport,
  SubmitReport,
  TaskContext,
  TaskKind,
} from '../../src/tasks/task-kind.js';
import { viewTask } from '../../src/tasks/task.view.js';
import { DAY_MS } from '../../src/common/time/spans.js';

/** Orders with this many steps are submitted that many times; the last submission is accepted. */
interface JobMemory {
  readonly steps?: number;
}

/** A kind of task whose jobs run at a {@link JobProvider}, through the gateway's own HTTP client. */
export class JobKind implements TaskKind {
  readonly name: string = 'job';
  readonly operation = 'dubbing';
  readonly modality = 'audio';
  private readonly http: ProviderHttp;
  private readonly transport: HttpTransport;

  constructor(baseUrl: string, timeoutMs = 10_000) {
    process.env.TASKS_OF_TEST_KIND = 'yes';
    this.transport = new HttpTransport(timeoutMs);
    const access = {
      id: 'elevenlabs',
      apiKey: 'none',
      baseUrl,
      transport: this.transport,
      clock: new SystemClock(),
    };
    this.http = new ProviderHttp(access, {
      headers: {},
    });
  }

  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const body = jsonBody(task.input);
    const request = { method: 'POST', path: '/jobs', body, timeout: 'submit', context } as const;
    const answer = await this.http.requestJson(request, 10_000, (json) =>
      typeof json.id === 'string' ? json : undefined,
    );
    const id = String(answer.id);
    switch (String(answer.plan)) {
      case 'crash':
        throw new TypeError('the handler crashed');
      case 'done':
        return { state: 'done', result: answer.result as JsonObject };
      case 'step':
        return {
          state: 'step',
          stepState: { steps: ((task.stepState as JobMemory).steps ?? 0) + 1 },
        };
      default:
        return { state: 'accepted', jobId: id, stepState: { ...task.stepState, job: id } };
    }
  }

  async poll(task: Task, context: TaskContext): Promise<PollReport> {
    const path = `/jobs/${task.providerJobId ?? ''}`;
    const request = { method: 'GET', path, timeout: 'poll', context } as const;
    const { status, progress, result } = await this.http.requestJson(
      request,
      10_000,
      (json) => json,
    );
    const percent = typeof progress === 'number' ? progress : null;
    if (status === 'crash') throw new TypeError('the handler crashed');
    if (status === 'failed') return { state: 'failed', message: 'The job failed.' };
    if (status !== 'done') return { state: 'pending', progress: percent };
    if (result === undefined) return { state: 'unreadable' };
    return { state: 'succeeded', result: result as JsonObject, progress: percent };
  }

  view(task: Task): object {
    return viewTask(task);
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

/** A kind whose jobs make a file. */
export class FileJobKind extends JobKind {
  override readonly name = 'file-job';
  readonly contentAt = 'task';
  /** Collections that fail before one works. */
  failures = 0;
  /** How often the provider was asked to forget a job, and whether it does. */
  tidied = 0;
  forgets = true;
  /** Why they fail. */
  reason: Error = new Error('the disk is full');

  constructor(
    baseUrl: string,
    private readonly store: StoredFiles,
  ) {
    super(baseUrl);
  }

  async collect({ accountId, id: ownerId }: Task): Promise<CollectedContent> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw this.reason;
    }
    const contentType = 'audio/mpeg';
    const { id: fileId, sizeBytes } = await this.store.save({
      accountId,
      ownerId,
      contentType,
      body: Readable.from([Buffer.from('dub')]),
      maxBytes: 3,
      expiresAt: new Date(Date.now() + UNNAMED_FILE_MS),
    });
    const expiresAt = new Date(Date.now() + DAY_MS);
    return {
      content: { fileId, contentType, sizeBytes, filename: 'dubbed-de.mp3', expiresAt },
      result: { content_type: contentType },
    };
  }

  deleteAtProvider(): Promise<void> {
    this.tidied += 1;
    return this.forgets ? Promise.resolve() : Promise.reject(new Error('it keeps all'));
  }
}
