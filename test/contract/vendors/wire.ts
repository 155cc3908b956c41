import type { VideoCommand } from '../../../src/providers/ports/job.port.js';

/** What a vendor of a shipped file takes and says, as its documents have it. */
export interface ShippedWire {
  readonly id: string;
  readonly model: string;
  readonly command: Partial<VideoCommand>;
  readonly submit: { readonly url: string; readonly body: object };
  readonly headers: Readonly<Record<string, string>>;
  /** What the vendor answers; `BASE` stands for its URL. */
  readonly accepted: object;
  readonly job: string;
  readonly readUrl: string;
  /** Answers about the job, and what they mean. */
  readonly reads: readonly (readonly [object, object, number?])[];
  /** The answer about the finished job, and of the second request where there is one. */
  readonly finished: object;
  readonly result?: object;
  /** The requests that stop a job and that delete it, each as its method and URL, and what the vendor answers. */
  readonly cancel?: readonly [request: string, status: number];
  readonly delete?: readonly [request: string, status: number];
  /** How a lost job is asked for, the answer that has it, and such that have it not and may lack others. */
  readonly lookUp?: {
    readonly by: 'reference' | 'time';
    readonly url: string;
    readonly found: object;
    readonly others: readonly object[];
  };
  /** Answers to a submission, and the kind of error that they are; `refused_content` is told to the caller. */
  readonly errors: readonly (readonly [
    status: number,
    body: object,
    kind: string,
    retryAfterSeconds?: number,
  ])[];
}

/** Our name of a job. */
export const REFERENCE = 'task_0123456789abcdef0123456789abcdef';
export const FIRST = 'https://img.test/first.png';
export const LAST = 'https://img.test/last.png';
export const FILE_URL = 'https://cdn.test/a.mp4';
export const BEARER = { authorization: 'Bearer access-1:secret-of-a-vendor' };
export const WAITING = { state: 'pending', progress: null };
/** A failure of which the caller is told that the content was refused. */
export const refusedWith = (code: string | null, message: string | null) => ({
  state: 'failed',
  failure: { code, message, isContentRefusal: true },
});
export const failedWith = (code: string | null, message: string | null) => ({
  state: 'failed',
  failure: { code, message },
});

/** Entries of a list of contents. */
export const SEA_TEXT = { type: 'text', text: 'The sea' };
export const roleImage = (url: string, role: string) => ({
  type: 'image_url',
  image_url: { url },
  role,
});
