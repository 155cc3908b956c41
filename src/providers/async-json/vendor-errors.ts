import { kindOfStatus, type OwnErrors } from '../http/error-classification.js';
import type { ProviderError } from '../http/provider-error.js';
import {
  fitsCode,
  VENDOR_ERROR_KINDS,
  type VendorBodyError,
  type VendorErrorKind,
  type VendorErrors,
  type VendorFile,
} from './vendor-file.js';
import { wordAtPaths } from './vendor-paths.js';

/** A number in a message. */
const SECONDS = /\d{1,5}(\.\d{1,3})?/g;
const SECONDS_MARK = '{seconds}';
/** More of a message is not compared. */
const MAX_MESSAGE_CHARS = 2_000;

/** Whether a message is of a form of `errors.messages`, and which number stands for `{seconds}`. Case does not count. */
function fitsMessage(form: string, message: string): { readonly seconds?: number } | undefined {
  const text = message.slice(0, MAX_MESSAGE_CHARS).toLowerCase();
  const wanted = form.toLowerCase();
  if (!wanted.includes(SECONDS_MARK)) return fitsText(wanted, text) ? {} : undefined;
  const numbers = [...text.matchAll(SECONDS)].map(([number]) => number);
  const found = numbers.find((number) => fitsText(wanted.replace(SECONDS_MARK, number), text));
  return found === undefined ? undefined : { seconds: Math.ceil(Number(found)) };
}

function fitsText(form: string, text: string): boolean {
  const [head = '', ...rest] = form.split('*');
  const tail = rest.pop();
  if (tail === undefined) return form === text;
  const end = text.length - tail.length;
  if (!text.startsWith(head) || !text.endsWith(tail) || head.length > end) return false;
  let at = head.length;
  return rest.every((piece) => {
    const found = text.indexOf(piece, at);
    at = found + piece.length;
    return found !== -1 && at <= end;
  });
}

/** Whether the body says that the request failed, whatever its status is. */
export function failsInBody({ errors }: Pick<VendorFile, 'errors'>, body: unknown): boolean {
  return (errors?.in_body ?? []).some((place) => {
    const word = wordAtPaths(body, [place.path]);
    if (word === null) return false;
    return place.is_status === true
      ? isErrorStatus(Number(word))
      : !(place.ok ?? []).includes(word);
  });
}

/** The words at the places of errors that tell none. */
export const goodWords = ({ in_body: places = [] }: VendorErrors): readonly string[] =>
  places.flatMap(({ ok = [] }) => ok);

/** Whether the body blames the request rather than the job that it asks about: it was one too many, or the key is bad. */
export function blamesRequest(file: VendorFile, body: unknown): boolean {
  const error = failsInBody(file, body) ? vendorErrors(file)(OK, body) : undefined;
  const told = error?.status === undefined ? undefined : kindOfStatus(error.status);
  const kind = error?.kind ?? told;
  return kind === 'rate_limited' || kind === 'account' || kind === 'unavailable';
}

/** Whether the file itself says that this error is a refusal; what only looks like one may be an answer that came too early. */
export function isMappedRefusal(
  { errors = {} }: VendorFile,
  error: Pick<ProviderError, 'upstreamStatus' | 'upstreamCode' | 'upstreamMessage'>,
): boolean {
  const { upstreamStatus: status = 0, upstreamCode = null, upstreamMessage = null } = error;
  const { kind } = mappedError(errors, status, upstreamCode, upstreamMessage);
  return kind === 'rejected' || kind === 'refused_content';
}

/** The kind of a failure that is told with a good status. */
export const failureKind = (errors: VendorErrors, code: string | null, message: string | null) =>
  mappedError(errors, OK, code, message).kind;

/** The errors as the file maps them. Undefined where it says nothing of one: the general classification counts. */
export function vendorErrors(file: VendorFile): OwnErrors {
  const { errors = {} } = file;
  const places = errors.in_body ?? [];
  const codePaths = [
    ...places.filter((place) => place.is_status !== true).map(({ path }) => path),
    ...(errors.code ?? []),
  ];
  return (status, body) => {
    if (isSuccess(status) && !failsInBody(file, body)) return undefined;
    const told = statusInBody(places, body);
    const counts = told ?? status;
    const code = wordAtPaths(body, codePaths);
    const message = wordAtPaths(body, errors.message);
    const { kind: mapped, seconds } = mappedError(errors, counts, code, message);
    // Of an unmapped error in a good response it is unknown what the vendor has done.
    const kind = mapped ?? (isSuccess(counts) ? 'http_error' : undefined);
    const wait = secondsAt(body, errors.retry_after) ?? seconds;
    const facts = withoutNulls({ status: told, code, message, retryAfterSeconds: wait });
    if (kind === undefined && Object.keys(facts).length === 0) return undefined;
    return { ...facts, ...(kind !== undefined && ownKind(kind)) };
  };
}

const OK = 200;
const isSuccess = (status: number): boolean => status >= 200 && status < 300;
const isErrorStatus = (status: number): boolean =>
  Number.isInteger(status) && status >= 400 && status < 600;

function statusInBody(places: readonly VendorBodyError[], body: unknown): number | undefined {
  const paths = places.filter((place) => place.is_status === true).map(({ path }) => path);
  const told = Number(wordAtPaths(body, paths) ?? NaN);
  return isErrorStatus(told) ? told : undefined;
}

/** What the code says comes before what the status says, and the message comes last: vendors quote the caller's words in it. */
function mappedError(
  errors: VendorErrors,
  status: number,
  code: string | null,
  message: string | null,
): { readonly kind?: VendorErrorKind | undefined; readonly seconds?: number | undefined } {
  const said = status < 500 && message !== null ? saidIn(errors, message) : undefined;
  const kind = kindOfCode(errors, code) ?? errors.statuses?.[String(status)] ?? said?.kind;
  return { kind, seconds: said?.kind === kind ? said?.seconds : undefined };
}

function saidIn({ messages = {} }: VendorErrors, message: string) {
  for (const kind of VENDOR_ERROR_KINDS) {
    for (const form of messages[kind] ?? []) {
      const fit = fitsMessage(form, message);
      if (fit) return { kind, ...fit };
    }
  }
  return undefined;
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
