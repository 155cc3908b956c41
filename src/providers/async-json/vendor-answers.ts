import { parseUrl } from '../../common/parse-url.js';
import type { JsonObject } from '../../common/json-object.js';
import { jobFailure, unknownJob } from '../http/job-state.js';
import type { FailedJob, VideoReport } from '../ports/job.port.js';
import { keyOrigins, VENDOR_STATES, type VendorFile } from './vendor-file.js';
import { failureKind, goodWords } from './vendor-errors.js';
import { valueAtPath, wordAtPaths } from './vendor-paths.js';

/** Largest JSON answer of a vendor. */
export const MAX_VENDOR_ANSWER_BYTES = 1024 * 1024;

/** The URL where it may get the key; undefined for one of another origin, and for one that holds credentials. */
export function keyedUrl(file: VendorFile, text: string | undefined): URL | undefined {
  const url = text === undefined ? undefined : parseUrl(text);
  if (url?.username !== '' || url.password !== '') return undefined;
  return keyOrigins(file).includes(url.origin) ? url : undefined;
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
  const isGood = general.code !== null && goodWords(errors).includes(general.code);
  const code = wordAtPaths(json, read.failure_code) ?? (isGood ? null : general.code);
  const message =
    wordAtPaths(json, read.failure_message) ?? (read.failure_message ? null : general.message);
  const isContentRefusal =
    isRefused(read, json) || failureKind(errors, code, message) === 'refused_content';
  const failure = { code, message, requestId, ...(isContentRefusal && { isContentRefusal }) };
  return { state: 'failed', failure };
}
