/**
 * What a vendor takes and says, word by word as its documents have it. In all texts `JOB` stands for the id of a job, `BASE` for the
 * URL of the vendor, `FILE` for the URL of the video, and `PROMPT` for the caller's words.
 */
export interface PlayedWire {
  /** The shipped file that has to understand it. */
  readonly id: string;
  readonly keyVariable: string;
  readonly key: string;
  /** How these headers have to be on every request. */
  readonly headers: Readonly<Record<string, RegExp>>;
  readonly model: string;
  readonly submitUrl: string;
  readonly sent: string;
  /** What the caller asks for beside prompt and seconds: where the vendor fills it in, its lists tell no job of an order without it. */
  readonly asked?: { readonly aspect_ratio: string };
  readonly readUrl: string;
  /** Where the result of a finished job is asked for, where that is a second request. */
  readonly resultUrl?: string;
  readonly result?: string;
  /** Where a job is asked for by our name of it, which `REFERENCE` stands for, in `sent` too; and the answer about one that is there. */
  readonly lookUpUrl?: string;
  readonly found?: string;
  /** Where all jobs are listed, which `JOBS` stands for; each is told as `found`, with `PROMPT` and its time, `MADE`. */
  readonly list?: { readonly url: string; readonly page: string };
  /** The requests that stop a job and that delete it, each as its method and URL, with their answers. */
  readonly ends?: Readonly<Partial<Record<JobEnd, readonly [request: string, says: VendorAnswer]>>>;
  /** The file is fetched with the key. */
  readonly hasKeyedFile?: boolean;
  readonly says: Readonly<Record<VendorWord, VendorAnswer>>;
  /** What it says of content that it refuses, where its documents have words for it. */
  readonly refusals?: VendorRefusals;
}

/** Answers to a submission, and about a job, of which the caller is told that the content was refused. */
interface VendorRefusals {
  readonly submit?: VendorAnswer;
  readonly job?: VendorAnswer;
  /** What the latter says that the job cost, in micro-USD at the rates of the test's overlay. */
  readonly cost?: string;
}

export type JobEnd = 'cancel' | 'delete';

export type VendorAnswer = readonly [status: number, body: string];

/** Answers that every vendor has. `odd` is about a job, with a word that its documents do not have. */
export type VendorWord = 'accepted' | 'refused' | 'busy' | 'waiting' | 'odd' | 'done' | 'failed';

/** A key as it is, sent as a bearer. */
export const PLAIN = {
  key: 'key-of-the-vendor',
  headers: { authorization: /^Bearer key-of-the-vendor$/ },
};
