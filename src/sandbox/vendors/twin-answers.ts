import { asRecord, type JsonRecord } from '../http/json.js';
import type { WireError } from '../http/protocol.js';
import type { JobState } from '../jobs/job-board.js';
import type { TwinErrorKind, TwinFile } from './twin-file.js';

/** A place in a list. Longer numbers are keys of an object, so that no list becomes long. */
const PLACE = /^\d{1,2}$/;
const FAILURE_CODE = 'generation_failed';
/** What one second of a video costs, or one image, in USD. */
const USD_PER_PIECE = 0.05;
/** The kind of which a status has the first code that the file lists. */
const KIND_OF_STATUS: Readonly<Record<number, TwinErrorKind>> = {
  400: 'rejected',
  422: 'rejected',
  401: 'account',
  402: 'account',
  403: 'account',
  429: 'rate_limited',
  503: 'unavailable',
};

/** An answer that is being made. */
type Answer = Record<string, unknown>;

/** What of a job its vendor tells. */
export interface ToldJob {
  readonly id: string;
  readonly reference: string;
  readonly echoed: JsonRecord;
  /** When it was accepted. */
  readonly madeMs: number;
  /** Seconds of a video, or the number of images. */
  readonly quantity: number;
  readonly state: JobState;
  /** A failure is that of its content. */
  readonly isRefused: boolean;
  /** Where its own routes are. */
  readonly url: string;
  /** The URLs of what was made; empty where the answer has none. */
  readonly fileUrls: readonly string[];
}

/** Makes the answers of a vendor from the paths and the words of its file. */
export class TwinAnswers {
  constructor(private readonly file: TwinFile) {}

  /** To a request that changes a job. */
  done(): Answer {
    return this.good(undefined);
  }

  /** To the submission of a job. */
  accepted({ id, url }: ToldJob): Answer {
    const { submit } = this.file;
    const answer = this.good(this.wordOf('queued'));
    put(answer, submit.id, id);
    put(answer, submit.read_url, url);
    return answer;
  }

  /** To a question for the job, with its status. */
  job(told: ToldJob): readonly [status: number, answer: Answer] {
    const { read, result, cancel, submit } = this.file;
    const { id, url, state } = told;
    const word = state.word ?? this.wordOf(this.isHidden(told) ? 'done' : state.phase);
    const answer = this.good(word);
    if (read.progress) put(answer, read.progress.path, (state.progress * read.progress.full) / 100);
    this.putEnd(answer, told);
    put(answer, result.request?.given, `${url}/result`);
    put(answer, cancel?.given, `${url}/cancel`);
    this.putNames(answer, told);
    put(answer, submit.id, id);
    return [word === undefined ? (read.waiting_statuses?.[0] ?? 200) : 200, answer];
  }

  /** To the second question, for the result. */
  result({ fileUrls }: ToldJob): Answer {
    const answer = this.done();
    this.putUrls(answer, fileUrls);
    return answer;
  }

  /** To a look-up where the vendor answers with a list. */
  list(jobs: readonly ToldJob[], hasMore: boolean): Answer {
    const { lookup } = this.file;
    const answer = this.done();
    const entries = jobs.map((job) => this.putNames(newObject(), job, true));
    put(answer, lookup?.items, entries);
    put(answer, lookup?.more, hasMore);
    return answer;
  }

  /** To a request that failed. */
  error({ status, code = this.codeOf(status), message }: WireError): Answer {
    const { in_body: inBody, code: codes, message: messages } = this.file.errors ?? {};
    const answer = newObject();
    for (const { path, is_status: isStatus } of inBody ?? []) {
      put(answer, path, isStatus === true ? status : code);
    }
    put(answer, codes?.[0], code);
    put(answer, messages?.[0], message);
    // Where the file names no place, it is where most vendors have it.
    if (!inBody && !codes) put(answer, messages ? 'code' : 'error.code', code);
    if (!messages) put(answer, 'error.message', message);
    return answer;
  }

  /** An answer that tells no error, with the word for the state of its job. Both may be at one place, where the word counts. */
  private good(word: string | undefined): Answer {
    const { errors, read } = this.file;
    const answer = newObject();
    put(answer, read.state, word);
    for (const { path, ok } of errors?.in_body ?? []) put(answer, path, ok?.[0]);
    return answer;
  }

  private codeOf(status: number): string {
    const kind = KIND_OF_STATUS[status];
    const [known] = (kind && this.file.errors?.codes?.[kind]) ?? [];
    return known === undefined ? `status_${status}` : plainCode(known);
  }

  /** Undefined where the vendor tells by the status that the job is not finished. */
  private wordOf(phase: JobState['phase']): string | undefined {
    const { states, waiting_statuses: waiting } = this.file.read;
    const { queued, processing, succeeded, failed } = states;
    const unfinished = waiting ? [] : ['unfinished'];
    const words = {
      queued: [queued, processing, unfinished],
      working: [processing, queued, unfinished],
      done: [succeeded],
      // One that has no word for it says that a job is finished, and that there was an error.
      failed: [failed, succeeded],
    };
    return words[phase].flatMap((list) => list ?? [])[0];
  }

  /** What a look-up reads, in an entry of a list or in the answer about the job. */
  private putNames(answer: Answer, told: ToldJob, isEntry = false): Answer {
    const { lookup } = this.file;
    if (isEntry || lookup?.items === undefined) {
      put(answer, lookup?.id, told.id);
      put(answer, lookup?.reference, told.reference);
      put(answer, lookup?.made_at, new Date(told.madeMs).toISOString());
      for (const [path, value] of Object.entries(told.echoed)) put(answer, path, value);
    }
    return answer;
  }

  /** With the vendor's own code and message for refused content, where its file has them. */
  private refusal(): ReturnType<TwinAnswers['failure']> {
    const usual = this.failure();
    const { codes = {}, messages = {} } = this.file.errors ?? {};
    const [code = usual.code] = codes.refused_content ?? [];
    const [message = usual.message] = messages.refused_content ?? [];
    return { code: plainCode(code), message: message.replaceAll('*', '') };
  }

  private failure() {
    const { operation = 'video' } = this.file;
    return { code: FAILURE_CODE, message: `The ${operation} could not be generated.` };
  }

  private putEnd(answer: Answer, told: ToldJob): void {
    const { phase } = told.state;
    const isHidden = this.isHidden(told);
    if (isHidden || phase === 'done') put(answer, this.file.read.refused_unless, !isHidden);
    if (phase === 'failed') this.putFailure(answer, told.isRefused);
    if (phase === 'done') this.putResult(answer, told);
  }

  /** Such a vendor finishes a job that it refuses, and says that it does not show the video. */
  private isHidden({ state, isRefused }: ToldJob): boolean {
    return state.phase === 'failed' && isRefused && this.file.read.refused_unless !== undefined;
  }

  private putFailure(answer: Answer, isRefused: boolean): void {
    const failure = isRefused ? this.refusal() : this.failure();
    const { failure_code: codes, failure_message: messages, failed_if: sign } = this.file.read;
    const told: [path: string | undefined, value: string][] = [
      [codes?.[0], failure.code],
      [messages?.[0], failure.message],
    ];
    const isSign = ([path]: (typeof told)[number]): boolean =>
      sign !== undefined && `${path ?? ''}.`.startsWith(`${sign}.`);
    // The sign has the first room: without it the job would not be one that failed.
    for (const [path, value] of told.filter(isSign)) put(answer, path, value);
    put(answer, sign, true);
    for (const [path, value] of told) put(answer, path, value);
  }

  private putResult(answer: Answer, { id, fileUrls, quantity }: ToldJob): void {
    const { result, cost } = this.file;
    if (!result.request) this.putUrls(answer, fileUrls);
    if (fileUrls.length > 0) put(answer, result.request?.value, id);
    const figure =
      cost?.unit === 'usd' ? Math.round(quantity * USD_PER_PIECE * 100) / 100 : quantity;
    put(answer, cost?.path, figure);
  }

  /** Each at its place, or all as a list where the path has no place of each. */
  private putUrls(answer: Answer, urls: readonly string[]): void {
    const [path = ''] = this.file.result.url;
    if (!path.includes(EACH)) put(answer, path, urls.length > 1 ? urls : urls[0]);
    else
      urls.forEach((url, at) => {
        put(answer, placedAt(path, at), url);
      });
  }
}

/** In a path of the result, it stands for each entry of a list. */
const EACH = '*';
/** The path with the first of them as this place, and the others as the first one. */
const placedAt = (path: string, at: number): string =>
  path.replace(EACH, String(at)).replaceAll(EACH, '0');

/** A code of this form. */
const plainCode = (form: string): string => form.replace(/\*$/, '');

/** Without a prototype, so that every name in a path is one of its own keys. */
const newObject = (): Answer => Object.create(null) as Answer;

/** Puts a value at a path, unless something else is there or in the way. */
function put(answer: Answer, path: string | undefined, value: unknown): void {
  if (path === undefined || value === undefined) return;
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at: Answer | undefined = answer;
  for (const [index, name] of names.entries())
    at = at && holderIn(at, name, names[index + 1] ?? last);
  if (at && hasRoom(at, last)) at[last] ??= value;
}

/** The object at a name, or the list, made where nothing is there; undefined where something else is. */
function holderIn(at: Answer, name: string, next: string): Answer | undefined {
  if (!hasRoom(at, name)) return undefined;
  const there = (at[name] ??= PLACE.test(next) ? [] : newObject());
  return Array.isArray(there) || asRecord(there) ? (there as Answer) : undefined;
}

const hasRoom = (at: Answer, name: string): boolean => !Array.isArray(at) || PLACE.test(name);
