import type { VendorAct, VendorScript } from '../../contract/vendors/whole/played-vendor.js';
import type {
  PlayedWire,
  VendorAnswer,
  VendorWord,
} from '../../contract/vendors/whole/played-wire.js';
import { PLAYED_VIDEO } from '../../contract/vendors/whole/played-vendor.js';
import { mutated, type Random } from '../../media/fuzz.js';
import { damagedJson, picked } from './damage.js';

/** How a video ends for its caller; `unknown` is left to an operator. */
export type VideoEnd = 'paid' | 'free' | 'unknown';

/** What a vendor does with one video. */
export interface VendorHistory {
  readonly script: VendorScript;
  /** The end that it has to have; undefined where an answer is damaged, so that it may mean anything. */
  readonly end: VideoEnd | undefined;
  /** How often the job may be sent: again only after an answer that says that it was not taken. */
  readonly mostSubmissions: number;
}

/** The vendor did not take the job. */
const NOT_TAKEN = [429, 499, 503, 529];
const STATUSES = [
  201, 202, 204, 206, 302, 400, 401, 402, 403, 404, 408, 409, 418, 422, 500, 502, 504,
];
/** Answers of a connection that breaks, of another server, or without sense. */
const FAULTS = ['reset', 'half', 'page', 'error', 'keyless'] as const;
/** Each costs a timeout, or megabytes. */
const COSTLY = ['hold', 'huge'] as const;
/** Where a vendor may send us for a file; the first is one of our own hosts, which has no such file. */
const URLS = [
  'FILE.txt',
  'http://10.0.0.1/a.mp4',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]:1/a.mp4',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//host/a.mp4',
  'http://user:secret@10.0.0.1/',
  '',
  `http://10.0.0.1/${'a'.repeat(3_000)}`,
];
const HEAD = PLAYED_VIDEO.subarray(0, 1_000);
const MOST_BUSY = 2;
const MOST_READS = 5;

/** A history that the numbers make; the same numbers make the same one. */
export function vendorHistory(wire: PlayedWire, random: Random): VendorHistory {
  const submit = submissions(wire, random);
  const reads = manyReads(wire, random);
  const results = resultAnswers(wire, random);
  const files = fileAnswers(random);
  const lookUps = lookUpAnswers(wire, random);
  const script = { submit, lookUps, reads, results, files };
  const taken = submit.findIndex((act) => !isNotTaken(act));
  return { script, end: endOf(wire, script), mostSubmissions: taken + 1 };
}

function submissions(wire: PlayedWire, random: Random): VendorAct[] {
  const acts: VendorAct[] = [];
  while (acts.length < MOST_BUSY && random(10) === 0) {
    acts.push(random(2) === 0 ? 'busy' : withStatus(wire, 'accepted', picked(NOT_TAKEN, random)));
  }
  return [...acts, lastSubmission(wire, random)];
}

function lastSubmission(wire: PlayedWire, random: Random): VendorAct {
  switch (random(20)) {
    case 0:
    case 1:
      return damaged(wire, 'accepted', random);
    case 2:
      return picked(['refused', 'unsafe'], random);
    case 3:
      return damaged(wire, 'refused', random);
    case 4:
    case 5:
      return picked(FAULTS, random);
    case 6:
      return withStatus(wire, 'accepted', picked(STATUSES, random));
    case 7:
      return random(8) === 0 ? picked(COSTLY, random) : 'accepted';
    default:
      return 'accepted';
  }
}

function manyReads(wire: PlayedWire, random: Random): VendorAct[] {
  const acts = Array.from({ length: random(MOST_READS + 1) }, () => oneRead(wire, random));
  // A job that may have been told as done does not fail later.
  const mayFail = acts.every((act) => typeof act === 'string');
  if (!mayFail || random(5) > 0) return [...acts, 'done'];
  // Of a refusal that only the result tells, the job is done.
  const mayRefuse = wire.resultUrl === undefined;
  return [...acts, mayRefuse && random(2) === 0 ? 'condemned' : 'failed'];
}

function oneRead(wire: PlayedWire, random: Random): VendorAct {
  switch (random(16)) {
    case 0:
    case 1:
      return damaged(wire, picked(['waiting', 'odd', 'done', 'failed'], random), random);
    case 2:
      return withStatus(
        wire,
        picked(['waiting', 'done', 'busy'], random),
        picked(STATUSES, random),
      );
    case 3:
      return withUrl(wire, random);
    case 4:
    case 5:
      return random(6) === 0 ? 'gone' : picked(FAULTS, random);
    case 6:
      return 'odd';
    case 7:
      return random(8) === 0 ? picked(COSTLY, random) : 'waiting';
    default:
      return 'waiting';
  }
}

function resultAnswers({ result = '' }: PlayedWire, random: Random): VendorAct[] {
  if (result === '' || random(4) > 0) return ['result'];
  if (random(2) === 0) return [picked(FAULTS, random), 'result'];
  return [[200, damagedJson(JSON.parse(result), random).toString('latin1')], 'result'];
}

/** The last answer stays, for all look-ups that are left. */
function lookUpAnswers({ lookUpUrl }: PlayedWire, random: Random): VendorAct[] {
  if (lookUpUrl === undefined || random(3) > 0) return ['found'];
  return random(2) === 0 ? [picked(FAULTS, random), 'gone', 'found'] : [picked(FAULTS, random)];
}

function fileAnswers(random: Random): VendorAct[] {
  switch (random(12)) {
    case 0:
      return [picked(['error', 'half', 'reset', 'gone'] as const, random), 'file'];
    case 1:
      return ['page'];
    case 2:
      // An empty file is asked for again, for ten minutes.
      return [[200, mutated(HEAD, PLAYED_VIDEO, random).toString('latin1')], 'file'];
    default:
      return ['file'];
  }
}

function damaged(wire: PlayedWire, word: VendorWord, random: Random): VendorAnswer {
  const [status, text] = wire.says[word];
  return [status, damagedJson(JSON.parse(text), random).toString('latin1')];
}

function withStatus(wire: PlayedWire, word: VendorWord, status: number): VendorAnswer {
  return [status, status === 204 ? '' : wire.says[word][1]];
}

/** A finished job whose file, or whose result, lies elsewhere. */
function withUrl(wire: PlayedWire, random: Random): VendorAnswer {
  const [status, text] = wire.says.done;
  const other = picked(URLS, random);
  return [status, text.replaceAll('FILE', other).replaceAll(/BASE[^"]*/g, other)];
}

const isNotTaken = (act: VendorAct): boolean =>
  act === 'busy' || (typeof act !== 'string' && NOT_TAKEN.includes(act[0]));

/** A vendor that is asked by our reference may have the job of a submission before. */
const endOfRefused = ({ lookUpUrl }: PlayedWire, submit: readonly VendorAct[]) =>
  submit.length > 1 && lookUpUrl !== undefined ? undefined : 'free';

/** A vendor that is asked by our reference, or lists its jobs, has the job. */
const isFound = ({ lookUpUrl, list }: PlayedWire, lookUps: readonly VendorAct[]): boolean =>
  list !== undefined || (lookUpUrl !== undefined && lookUps.at(-1) === 'found');

function endOf(
  wire: PlayedWire,
  { submit, lookUps, reads, results, files }: VendorScript,
): VideoEnd | undefined {
  const sent = submit.at(-1);
  if (sent === 'refused' || sent === 'unsafe') return endOfRefused(wire, submit);
  if (typeof sent !== 'string') return undefined;
  if (sent !== 'accepted' && !isFound(wire, lookUps)) return 'unknown';
  if ([...reads, ...results].some((act) => typeof act !== 'string')) return undefined;
  if (reads.at(-1) === 'failed' || reads.at(-1) === 'condemned') return 'free';
  if (files.some((act) => typeof act !== 'string')) return undefined;
  return files.at(-1) === 'page' ? 'unknown' : 'paid';
}
