import { parseUrl } from '../../common/parse-url.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { OwnErrors } from '../http/error-classification.js';
import type { ProviderError } from '../http/provider-error.js';
import { jobFailure, unknownJob } from '../http/job-state.js';
import type { FailedJob, VideoReport } from '../ports/job.port.js';
import {
  fitsCode,
  keyOrigins,
  VENDOR_ERROR_KINDS,
  VENDOR_STATES,
  type VendorErrorKind,
  type VendorErrors,
  type VendorFile,
  type VendorLookup,
} from './vendor-file.js';
import { MAX_VENDOR_URL_CHARS } from './vendor-field-checks.js';

/** What says that a list has no further page. A field that is absent says nothing. */
const NO_MORE: readonly unknown[] = [false, null, '', 0];

/** Largest JSON answer of a vendor. */
export const MAX_VENDOR_ANSWER_BYTES = 1024 * 1024;

/** The value at a path of an answer; undefined where there is none. */
export function valueAtPath(json: unknown, path: string): unknown {
  let value: unknown = json;
  for (const name of path.split('.')) {
    const isHolder = isJsonObject(value) || Array.isArray(value);
    if (!isHolder || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** The text, the number or the boolean at the first of the paths that has one. */
export function wordAtPaths(json: unknown, paths: readonly string[] = []): string | null {
  for (const path of paths) {
    const value = valueAtPath(json, path);
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'boolean') return String(value);
    // A whole number beyond these has lost its last digits: it would be the id of another job.
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (typeof value === 'number' && isExact) return String(value);
  }
  return null;
}

/** The first URL at the first of the paths that has one; it is the vendor's, and may lead anywhere. */
export function urlAtPaths(json: unknown, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = valueAtPath(json, path);
    const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof first !== 'string' || first.length > MAX_VENDOR_URL_CHARS) continue;
    if (/^https?:$/.test(parseUrl(first)?.protocol ?? '')) return first;
  }
  return undefined;
}

/** The URL where it may get the key; undefined for one of another origin, and for one that holds credentials. */
export function keyedUrl(file: VendorFile, text: string | undefined): URL | undefined {
  const url = text === undefined ? undefined : parseUrl(text);
  if (url?.username !== '' || url.password !== '') return undefined;
  return keyOrigins(file).includes(url.origin) ? url : undefined;
}

/**
 * The job with our reference in the answer to a look-up; null where the answer says that there is no such job, undefined where it
 * does not say. A vendor that overlooks the reference gives the jobs of others.
 */
export function lookedUpJob(
  lookup: VendorLookup,
  answer: JsonObject,
  reference: string,
): JsonObject | null | undefined {
  const isOurs = (job: unknown): boolean => wordAtPaths(job, [lookup.reference]) === reference;
  if (lookup.items === undefined) return isOurs(answer) ? answer : undefined;
  const jobs = valueAtPath(answer, lookup.items);
  if (!Array.isArray(jobs)) return undefined;
  const [ours, another] = (jobs as unknown[]).filter(isOurs);
  if (isJsonObject(ours)) return another === undefined ? ours : undefined;
  const isAbsent = lookup.absent_when_missing === true && isWholeList(lookup, answer, jobs.length);
  return isAbsent ? null : undefined;
}

/**
 * Whether no job of the list can be on a further page: the answer says so, or it was asked for the jobs of our reference and is
 * empty. One that has others was not chosen by the reference, so it may be a page of all jobs.
 */
function isWholeList({ more }: VendorLookup, answer: JsonObject, count: number): boolean {
  if (more === undefined) return count === 0;
  return NO_MORE.includes(valueAtPath(answer, more));
}

/** Whether the body says that the request failed, whatever its status is. */
export function failsInBody({ errors }: VendorFile, body: unknown): boolean {
  if (errors?.in_body === undefined) return false;
  const word = wordAtPaths(body, [errors.in_body.path]);
  return word !== null && !errors.in_body.ok.includes(word);
}

/** Whether the body blames the request rather than the job that it asks about: it was one too many, or the key is bad. */
export function blamesRequest(file: VendorFile, body: unknown): boolean {
  const kind = failsInBody(file, body) ? vendorErrors(file)(200, body)?.kind : undefined;
  return kind === 'rate_limited' || kind === 'account' || kind === 'unavailable';
}

/** Whether the file itself says that this error is a refusal; what only looks like one may be an answer that came too early. */
export function isMappedRefusal(
  { errors = {} }: VendorFile,
  { upstreamStatus, upstreamCode }: Pick<ProviderError, 'upstreamStatus' | 'upstreamCode'>,
): boolean {
  const kind =
    kindOfCode(errors, upstreamCode ?? null) ?? errors.statuses?.[String(upstreamStatus)];
  return kind === 'rejected' || kind === 'refused_content';
}

/** The errors as the file maps them. Undefined where it says nothing of one: the general classification counts. */
export function vendorErrors(file: VendorFile): OwnErrors {
  const { errors = {} } = file;
  const codePaths = [...(errors.in_body ? [errors.in_body.path] : []), ...(errors.code ?? [])];
  return (status, body) => {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && !failsInBody(file, body)) return undefined;
    const code = wordAtPaths(body, codePaths);
    const message = wordAtPaths(body, errors.message);
    // Of an unmapped error in a good response it is unknown what the vendor has done.
    const unmapped = isSuccess ? 'http_error' : undefined;
    const kind = kindOfCode(errors, code) ?? errors.statuses?.[String(status)] ?? unmapped;
    if (kind === undefined && code === null && message === null) return undefined;
    return {
      ...withoutNulls({ code, message, retryAfterSeconds: secondsAt(body, errors.retry_after) }),
      ...(kind !== undefined && ownKind(kind)),
    };
  };
}

/** A vendor that refuses the content rejects the request; the caller is told why. */
const ownKind = (kind: VendorErrorKind) =>
  kind === 'refused_content' ? ({ kind: 'rejected', isContentRefusal: true } as const) : { kind };

/** Only what is there, so that it replaces nothing of the general finding. */
function withoutNulls<T extends object>(facts: T) {
  const there = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

function kindOfCode({ codes = {} }: VendorErrors, code: string | null) {
  if (code === null) return undefined;
  return VENDOR_ERROR_KINDS.find((kind) => codes[kind]?.some((form) => fitsCode(form, code)));
}

function secondsAt(body: unknown, path: string | undefined): number | undefined {
  const seconds = path === undefined ? NaN : Number(wordAtPaths(body, [path]) ?? NaN);
  return seconds >= 0 && seconds <= 86_400 ? Math.ceil(seconds) : undefined;
}

/** The state of the job in the vendor's answer; undefined where it has none. An unlisted word is unknown, and reported. */
export function vendorReport(
  file: VendorFile,
  json: JsonObject,
  { requestId, status }: { readonly requestId: string | null; readonly status: number },
): VideoReport | undefined {
  const { read } = file;
  if (read.waiting_statuses?.includes(status)) {
    return { state: 'pending', progress: progressIn(read, json) };
  }
  const word = wordAtPaths(json, [read.state]);
  if (word === null) return undefined;
  const state = VENDOR_STATES.find((known) => read.states[known]?.includes(word));
  const progress = progressIn(read, json);
  if (state === undefined) return unknownJob(word, progress);
  if (state === 'failed' || (state === 'succeeded' && hasFailure(read, json))) {
    return failedJob(file, json, requestId);
  }
  return state === 'succeeded' ? { state, progress } : { state: 'pending', progress };
}

function progressIn({ progress }: VendorFile['read'], json: JsonObject): number | null {
  if (!progress) return null;
  const value = Number(wordAtPaths(json, [progress.path]) ?? NaN);
  return Number.isFinite(value) ? value * (100 / progress.full) : null;
}

function hasFailure(read: VendorFile['read'], json: JsonObject): boolean {
  const { failed_if: path } = read;
  if (isRefused(read, json)) return true;
  const value = path === undefined ? undefined : valueAtPath(json, path);
  if (typeof value === 'string') return value.trim() !== '';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value === true || (typeof value === 'number' && value !== 0);
}

const isRefused = ({ refused_unless: path }: VendorFile['read'], json: JsonObject): boolean =>
  path !== undefined && valueAtPath(json, path) === false;

/**
 * Where the file names the place of the reason, other words of the answer are none: they may be those of a good answer about
 * a bad job.
 */
function failedJob(
  { read, errors = {} }: VendorFile,
  json: JsonObject,
  requestId: string | null,
): FailedJob {
  const general = jobFailure(json, requestId);
  const isGood = general.code !== null && errors.in_body?.ok.includes(general.code) === true;
  const code = wordAtPaths(json, read.failure_code) ?? (isGood ? null : general.code);
  const message =
    wordAtPaths(json, read.failure_message) ?? (read.failure_message ? null : general.message);
  const isContentRefusal = isRefused(read, json) || kindOfCode(errors, code) === 'refused_content';
  const failure = { code, message, requestId, ...(isContentRefusal && { isContentRefusal }) };
  return { state: 'failed', failure };
}
