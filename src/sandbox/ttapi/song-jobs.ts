import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { JsonRecord } from '../http/json.js';
import { WireFault } from '../http/protocol.js';
import type { Job, JobState, JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { type Recordings, SongFiles } from './song-files.js';
import type { Clip, SongOperation, Product, SongMaker } from './song-product.js';
import { refuseSong, type WireFields } from './wire-fields.js';

const DEFAULT_VARIANTS = 2;
const MAX_VARIANTS = 12;
const FAILURE = 'The song could not be made';

/** A track with the names of its files. */
export interface PublishedClip extends Clip {
  readonly id: string;
  readonly audio: string;
  readonly image: string;
}

/** The product of a job, with the names of its files. */
export interface SongFacts {
  readonly operation: string;
  readonly mv: string;
  /** The submission itself answers with the result. */
  readonly isInstant: boolean;
  readonly clips: readonly PublishedClip[];
  readonly files: readonly { readonly format: string; readonly file: string }[];
  readonly videos: readonly string[];
  readonly archive: string | undefined;
  readonly plain: JsonRecord;
}

/** How one family writes its jobs on the wire. */
export interface SandboxFamily {
  /** Kind of the jobs. The ids of one family are unknown in the other. */
  readonly kind: string;
  /** Name of the field with a track's id. */
  readonly trackField: string;
  /** Whether the answer tells the size of a file; then the file is made before the answer. */
  readonly tellsSize: boolean;
  /** The fields that a finished job adds to `data`. */
  shown(facts: SongFacts, urlOf: (file: string) => string): JsonRecord;
}

/** Where jobs, files and recordings are kept. */
export interface SongStores {
  readonly jobs: JobBoard;
  readonly shelf: MediaShelf;
  readonly recordings: Recordings;
}

/** The jobs of one family. */
export class SongJobs {
  constructor(
    private readonly family: SandboxFamily,
    private readonly stores: SongStores,
  ) {}

  /** Accepts an operation and answers with the id of its job; an instant operation is answered with its result. */
  async submit(
    exchange: SandboxExchange,
    work: {
      operation: string;
      perform: SongOperation<WireFields>;
      fields: WireFields;
      isInstant: boolean;
    },
  ): Promise<void> {
    const { operation, fields, isInstant } = work;
    const product = await work.perform(fields, this.deskFor(exchange));
    const facts = {
      operation,
      mv: fields.text('mv'),
      isInstant,
      ...this.published(product, exchange),
    };
    const label = `${operation} ${fields.toString()}`;
    const job = this.stores.jobs.accept<SongFacts>(exchange, {
      kind: this.family.kind,
      label,
      facts,
    });
    if (!isInstant) {
      await exchange.json(200, { status: 'SUCCESS', message: '', data: { job_id: job.id } });
    } else if (job.magic.has('task-fails')) {
      await exchange.json(200, { status: 'FAILED', message: FAILURE, data: null });
    } else {
      const data = await this.resultOf(job, exchange);
      await exchange.json(200, { status: 'SUCCESS', message: '', data });
    }
  }

  /** Answers the state of the job `?jobId=`, and its product once it is finished. */
  async show(exchange: SandboxExchange): Promise<void> {
    const jobId = exchange.query.get('jobId') ?? '';
    const job = this.stores.jobs.find<SongFacts>(this.family.kind, jobId);
    if (job === undefined) throw new WireFault({ status: 404, message: 'No such job' });
    if (await this.stores.jobs.spoilPoll(exchange, job)) return;
    const state = this.stores.jobs.stateOf(job);
    const isDone = state.phase === 'done';
    await exchange.json(200, {
      status: wordOf(state),
      message: state.phase === 'failed' ? FAILURE : '',
      jobId: job.id,
      data: {
        jobId: job.id,
        action: job.facts.operation,
        progress: `${state.progress}%`,
        mv: job.facts.mv,
        quota: '1',
        hookUrl: null,
        ...(isDone && (await this.resultOf(job, exchange))),
      },
    });
  }

  private async resultOf(job: Job<SongFacts>, exchange: SandboxExchange): Promise<JsonRecord> {
    if (job.magic.has('no-result')) return {};
    const { shelf } = this.stores;
    const urlOf = (file: string): string => shelf.urlOf(file, exchange.header('host'));
    const file = job.facts.archive ?? job.facts.files[0]?.file;
    const isSized = this.family.tellsSize && file !== undefined;
    const made = isSized ? await shelf.get(file) : undefined;
    return {
      ...this.family.shown(job.facts, urlOf),
      ...(made !== undefined && { size_bytes: made.bytes.length }),
    };
  }

  private published(
    { clips = [], files = [], video, archive, plain = {} }: Product,
    { requestId, magic }: SandboxExchange,
  ): Omit<SongFacts, 'operation' | 'mv' | 'isInstant'> {
    const shelved = new SongFiles(this.stores.shelf, magic.text('file'));
    return {
      clips: clips.map((clip, index) => {
        const audio = shelved.audio(clip, 'mp3');
        this.stores.recordings.remember(audio, clip);
        return { ...clip, id: `${requestId}-${index + 1}`, audio, image: shelved.cover(clip) };
      }),
      files: files.map(({ clip, format }) => {
        const file = shelved.audio(clip, format);
        this.stores.recordings.remember(file, clip);
        return { format, file };
      }),
      videos: video ? [shelved.video(video.clip, video.width, video.height)] : [],
      archive: archive && shelved.archive(archive),
      plain,
    };
  }

  private deskFor(exchange: SandboxExchange): SongMaker {
    return {
      variants: exchange.magic.number('tracks', MAX_VARIANTS) ?? DEFAULT_VARIANTS,
      newId: exchange.requestId,
      clip: (id) => {
        const [jobId = '', place = ''] = id.split('-');
        const job = this.finished(jobId);
        return (
          job?.facts.clips[Number(place) - 1] ?? refuseSong(`${this.family.trackField}: unknown`)
        );
      },
      demand: (operation, id, field) => {
        const job = this.finished(id);
        if (job?.facts.operation !== operation) refuseSong(`${field}: unknown`);
      },
      imported: (url) => this.stores.recordings.at(url),
    };
  }

  private finished(id: string): Job<SongFacts> | undefined {
    const job = this.stores.jobs.find<SongFacts>(this.family.kind, id);
    if (job === undefined || job.facts.isInstant) return job;
    return this.stores.jobs.stateOf(job).phase === 'done' ? job : undefined;
  }
}

function wordOf({ phase, word }: JobState): string {
  if (word !== undefined) return word;
  switch (phase) {
    case 'queued':
      return 'PENDING_QUEUE';
    case 'working':
      return 'ON_QUEUE';
    case 'done':
      return 'SUCCESS';
    case 'failed':
      return 'FAILED';
  }
}
