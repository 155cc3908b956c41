import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { MadeWithin } from '../ports/job.port.js';
import type { VendorLookup } from './vendor-file.js';
import { valueAtPath, wordAtPaths } from './vendor-paths.js';
import { NO_IMAGE } from './vendor-submit.js';
import { filledTemplate, type VendorValues } from './vendor-template.js';

/** What says that a list has no further page. A field that is absent says nothing. */
const NO_MORE: readonly unknown[] = [false, null, '', 0];
/** ISO 8601 with a time. Without a zone it is UTC. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(Z|[+-]\d\d:?\d\d)?$/i;
/** A number from here on is of milliseconds: as seconds it would be the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;

/** A submission whose job is looked for. */
interface SentJob {
  readonly values: VendorValues;
  /** Of a look-up by time. */
  readonly made?: MadeWithin | undefined;
}

/**
 * The job of a submission in the answer to a look-up; null where the answer says that there is no such job, undefined where it does
 * not say: so it is with two that fit. A vendor that overlooks the reference gives the jobs of others. Throws `UnfitValue`.
 */
export function lookedUpJob(
  lookup: VendorLookup,
  answer: JsonObject,
  sent: SentJob,
): JsonObject | null | undefined {
  const isOurs = ownJobTest(lookup, sent);
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

function ownJobTest(
  { reference, made_at: timePath, same = {} }: VendorLookup,
  { values, made }: SentJob,
): (job: unknown) => boolean {
  if (reference !== undefined) return (job) => wordAtPaths(job, [reference]) === values.reference;
  const { body: sent } = filledTemplate(same, values, () => NO_IMAGE);
  return (job) => {
    const madeMs = timePath === undefined ? NaN : timeMs(valueAtPath(job, timePath));
    return (
      made !== undefined &&
      madeMs >= made.fromMs &&
      madeMs <= made.toMs &&
      Object.keys(same).every((path) => isSame(valueAtPath(job, path), sent[path]))
    );
  };
}

/** Whether both are absent, or the same text, number or boolean. */
function isSame(told: unknown, sent: unknown): boolean {
  if (told === undefined || told === null) return sent === undefined;
  const text = textOf(told);
  return text !== undefined && text === textOf(sent);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;

/** Milliseconds since the epoch; NaN for what is no time. */
function timeMs(told: unknown): number {
  const text = textOf(told) ?? '';
  const [, day = '', time = '', fraction = '', zone = 'Z'] = ISO_TIME.exec(text) ?? [];
  if (day !== '') return Date.parse(`${day}T${time}${fraction}${zone.toUpperCase()}`);
  const count = /^\d{1,16}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  return count < FIRST_MILLISECONDS ? count * 1_000 : count;
}
