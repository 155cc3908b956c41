import type { JsonRecord } from '../http/json.js';

/** The kinds of error that a file maps codes to. */
export type TwinErrorKind =
  'refused_content' | 'rejected' | 'rate_limited' | 'account' | 'unavailable' | 'http_error';

/** What the jobs of a vendor make; videos where its file names nothing. */
export type TwinOperation = 'video' | 'image' | 'composition';

/** How the key of a vendor is sent. */
export type TwinAuth =
  | { readonly in: 'bearer' | 'jwt' }
  | { readonly in: 'header'; readonly name: string; readonly prefix?: string }
  | { readonly in: 'query'; readonly name: string };

/** A way to submit a job: of the whole file, or one of its variants. */
export interface TwinSubmit {
  readonly models?: readonly string[];
  readonly has?: readonly string[];
  readonly path?: string;
  readonly body?: JsonRecord;
}

/**
 * What the sandbox uses of the file of a vendor (docs/guides/add-a-vendor.md). The gateway has checked the file, and has put the
 * address of the twin into `base_url`, and the version of the file into `headers`.
 */
export interface TwinFile {
  readonly id: string;
  readonly operation?: TwinOperation;
  readonly base_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: TwinAuth;
  readonly submit: TwinSubmit & {
    readonly path: string;
    readonly body: JsonRecord;
    readonly variants?: readonly TwinSubmit[];
    readonly id?: string;
    readonly read_url?: string;
  };
  readonly lookup?: {
    readonly path: string;
    readonly items?: string;
    readonly id: string;
    readonly reference?: string;
    readonly made_at?: string;
    readonly same?: JsonRecord;
    readonly absent: readonly string[];
    readonly more?: string;
  };
  readonly read: {
    readonly path?: string;
    readonly state: string;
    readonly states: Readonly<
      Partial<Record<'queued' | 'processing' | 'succeeded' | 'failed', readonly string[]>>
    >;
    readonly waiting_statuses?: readonly number[];
    readonly progress?: { readonly path: string; readonly full: number };
    readonly failed_if?: string;
    readonly refused_unless?: string;
    readonly failure_code?: readonly string[];
    readonly failure_message?: readonly string[];
  };
  readonly result: {
    readonly url: readonly string[];
    readonly request?: {
      readonly path?: string;
      readonly value?: string;
      readonly given?: string;
    };
    readonly with_key?: boolean;
  };
  readonly cancel?: {
    readonly method: 'POST' | 'PUT' | 'DELETE';
    readonly path?: string;
    readonly given?: string;
  };
  readonly delete?: { readonly method: 'POST' | 'PUT' | 'DELETE'; readonly path: string };
  readonly errors?: {
    readonly code?: readonly string[];
    readonly message?: readonly string[];
    readonly in_body?: readonly {
      readonly path: string;
      readonly ok?: readonly string[];
      readonly is_status?: boolean;
    }[];
    readonly codes?: Readonly<Partial<Record<TwinErrorKind, readonly string[]>>>;
    readonly messages?: Readonly<Partial<Record<TwinErrorKind, readonly string[]>>>;
  };
  readonly cost?: { readonly path: string; readonly unit: 'usd' | 'unit' };
}
