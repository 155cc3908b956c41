import type { JsonObject } from '../../common/json-object.js';
import type { VendorField, VendorOperation } from './vendor-fields.js';

/**
 * The kinds of error that a file may map codes and statuses to. `refused_content`: it may not be shown, in words or in pictures; the
 * caller is told so.
 */
export const VENDOR_ERROR_KINDS = [
  'refused_content',
  'rejected',
  'rate_limited',
  'account',
  'unavailable',
  'http_error',
] as const;
export type VendorErrorKind = (typeof VENDOR_ERROR_KINDS)[number];

/** What the words of a vendor for the state of a job mean. */
export const VENDOR_STATES = ['queued', 'processing', 'succeeded', 'failed'] as const;
export type VendorState = (typeof VENDOR_STATES)[number];

/** How the key is sent. That of `jwt` is `access:secret`, which signs a short token (HS256), or one without a colon, a bearer. */
export type VendorAuth =
  | { readonly in: 'bearer' | 'jwt' }
  | { readonly in: 'header'; readonly name: string; readonly prefix?: string }
  | { readonly in: 'query'; readonly name: string };

/** A word in the body by which a request has failed, whatever the status of the answer is. */
export interface VendorBodyError {
  readonly path: string;
  /** The words that tell no error; absent: every word tells one. */
  readonly ok?: readonly string[];
  /** The word is an HTTP status, which counts in place of the one that the answer has. */
  readonly is_status?: boolean;
}

/** Which of a vendor's errors are which of ours. Codes may end with `*`; the first that fits counts. */
export interface VendorErrors {
  /** Paths of the vendor's code, of which the first that is there counts. */
  readonly code?: readonly string[];
  readonly message?: readonly string[];
  readonly in_body?: readonly VendorBodyError[];
  readonly codes?: Readonly<Partial<Record<VendorErrorKind, readonly string[]>>>;
  readonly statuses?: Readonly<Record<string, VendorErrorKind>>;
  /**
   * Forms of the message, for errors below 500 whose code and status are in no list. `*` stands for any text, and `{seconds}` for the
   * seconds to wait.
   */
  readonly messages?: Readonly<Partial<Record<VendorErrorKind, readonly string[]>>>;
  /** Path of the seconds to wait. */
  readonly retry_after?: string;
}

/** The methods of requests that change a job. */
export const VENDOR_METHODS = ['POST', 'PUT', 'DELETE'] as const;
export type VendorMethod = (typeof VENDOR_METHODS)[number];

/** How a lost job is looked up: by our reference, or in a list by its time (`made_at`) and its fields (`same`). */
export interface VendorLookup {
  /** With `{reference}`, but for a list of all jobs; with `{variant}` where `read.path` has it. */
  readonly path: string;
  /** Path of a list of jobs in the answer. The other paths are then within an entry of it. */
  readonly items?: string;
  /** Path of the job's id in the answer. */
  readonly id: string;
  /** Path of our reference in the answer: a job of another one is not ours. */
  readonly reference?: string;
  /** Path, in an entry, of when the job was made: ISO 8601, or seconds or milliseconds since the epoch. */
  readonly made_at?: string;
  /** Paths in an entry, and what stands there in our job: texts and casts as in a body. What names an absent field is absent there. */
  readonly same?: JsonObject;
  /** Codes, in the form of those of `errors`, which say that there is no such job; empty: none is known. */
  readonly absent: readonly string[];
  /** A whole list without our reference says that there is no such job. */
  readonly absent_when_missing?: boolean;
  /** Path, in the answer, of what says whether the list has a further page. */
  readonly more?: string;
}

/** Where the answer about a job says what it cost: in USD, or in units of which a million cost so many micro-USD. */
export interface VendorCost {
  readonly path: string;
  readonly unit: 'usd' | 'unit';
  readonly micro_usd_per_million_units?: number;
}

/** Requests that begin within a minute, and those in flight. Reads of jobs are not among them. */
export interface VendorKeyLimits {
  readonly requests_per_minute?: number;
  readonly concurrent?: number;
}

/** What the body or the path is instead for some models, or where some fields are given. */
export interface VendorVariant {
  /** Stands for `{variant}` in the path of the job. */
  readonly variant?: string;
  /** The vendor's names of models, of which one has to fit; one may end with `*`. */
  readonly models?: readonly string[];
  /** Fields of which one has to be given: by the caller, or by a constant of the row in place of the field in the body. */
  readonly has?: readonly VendorField[];
  readonly path?: string;
  readonly body?: JsonObject;
  /** In place of that of the file. */
  readonly not_together?: readonly (readonly VendorField[])[];
}

/** What callers may choose of a model of a file, as in a row of `CATALOG_FILE`, by the operation of the file. */
export interface VendorLimits {
  readonly video: {
    readonly max_image_urls: number;
    readonly resolutions?: readonly string[];
    readonly aspect_ratios?: readonly string[];
    readonly audio?: boolean;
    readonly frames?: readonly ('first' | 'last')[];
  };
  readonly image: {
    readonly sizes: readonly string[];
    readonly qualities?: readonly string[];
    readonly backgrounds?: readonly string[];
    readonly output_formats?: readonly ('png' | 'jpeg' | 'webp')[];
    readonly max_n?: number;
  };
  /** Music has none. */
  readonly composition: Readonly<Record<string, never>>;
}

/** A model that the file offers. It is sold once `CATALOG_FILE` has a price for its id. */
export interface VendorModel {
  readonly id: string;
  /** Its name at the vendor. */
  readonly upstream_model: string;
  readonly limits: VendorLimits[VendorOperation];
}

/**
 * A vendor of jobs as its file describes it (docs/guides/add-a-vendor.md). A path names fields of an answer with dots
 * between them; a number in it is the place in a list.
 */
export interface VendorFile {
  /** Where an editor finds the schema of the file. */
  readonly $schema?: string;
  readonly id: string;
  readonly protocol: 'async-json';
  /** What its jobs make; absent: videos. */
  readonly operation?: VendorOperation;
  /** The variable of the key; empty: it takes no key. */
  readonly key_env: string;
  readonly base_url: string;
  /** Further origins that may get the key. */
  readonly origins?: readonly string[];
  readonly auth: VendorAuth;
  readonly headers?: Readonly<Record<string, string>>;
  readonly submit: {
    /** The name of what is submitted where no variant fits. */
    readonly variant?: string;
    readonly path: string;
    readonly body: JsonObject;
    /** Pairs of fields that exclude each other: a request with both is refused before anything is held. */
    readonly not_together?: readonly (readonly VendorField[])[];
    /** The first that fits says what it has instead. */
    readonly variants?: readonly VendorVariant[];
    /** Path of the job's id in the answer. */
    readonly id?: string;
    /** Path of the URL to ask about the job, in place of `id` and `read.path`. */
    readonly read_url?: string;
  };
  /** How a job is found whose submission was not answered. */
  readonly lookup?: VendorLookup;
  readonly read: {
    readonly path?: string;
    readonly state: string;
    readonly states: Readonly<Partial<Record<VendorState, readonly string[]>>>;
    /** Statuses of an answer that say by themselves that the job is not finished. */
    readonly waiting_statuses?: readonly number[];
    readonly progress?: { readonly path: string; readonly full: number };
    /** A finished job that has something here has failed. */
    readonly failed_if?: string;
    /** The content of a finished job that has `false` here was refused. */
    readonly refused_unless?: string;
    readonly failure_code?: readonly string[];
    readonly failure_message?: readonly string[];
  };
  readonly result: {
    /** Paths of one URL or a list of them; a `*` stands for each entry of a list. Of videos the first URL counts. */
    readonly url: readonly string[];
    /** A second request, whose answer has the URL. */
    readonly request?: {
      /** With `{id}`, or `{value}` for what `value` names in the answer about the job. */
      readonly path?: string;
      readonly value?: string;
      /** Path of its URL in the answer about the job. */
      readonly given?: string;
    };
    /** The file is fetched with the key, where its origin may get it. */
    readonly with_key?: boolean;
  };
  /** How a job is stopped that the gateway has given up. */
  readonly cancel?: {
    readonly method: VendorMethod;
    /** With `{id}`, and `{variant}` where `read.path` has it. */
    readonly path?: string;
    /** Path of its URL in the answer about the job, in place of `path`. */
    readonly given?: string;
  };
  /** How a job and its video are deleted, once the gateway has stored the video. */
  readonly delete?: {
    readonly method: VendorMethod;
    /** With `{id}`, and `{variant}` where `read.path` has it. */
    readonly path: string;
  };
  readonly errors?: VendorErrors;
  /** The vendor's own figure of what a job cost, for margins. */
  readonly cost?: VendorCost;
  /** What each of its keys may be used for. */
  readonly key_limits?: VendorKeyLimits;
  readonly models?: readonly VendorModel[];
}

/** Whether a code, or the name of a model, is of a form that may end with `*`. */
export const fitsCode = (form: string, code: string): boolean =>
  form.endsWith('*') ? code.startsWith(form.slice(0, -1)) : form === code;

/** What the jobs of the vendor make. */
export const operationOf = ({ operation = 'video' }: Pick<VendorFile, 'operation'>) => operation;

/** The origins that may get the key. */
export function keyOrigins({ base_url: base, origins = [] }: VendorFile): readonly string[] {
  return [new URL(base).origin, ...origins];
}

/**
 * What a task remembers of the vendor that has its job: while it is the same, a changed file can still ask about the job.
 */
export function vendorUpstream({ base_url: base, submit, read }: VendorFile): string {
  return `${base} ${submit.read_url === undefined ? (read.path ?? '') : 'given'}`;
}
