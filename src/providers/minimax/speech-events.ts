import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
import { JsonLimits } from '../../platform/http-server/request-body/json-limits.js';
import { carriesError } from '../http/error-facts.js';
import { figuresOfBody } from '../http/figures.js';
import { numberAt, textAt } from '../http/json-fields.js';
import { BYTE_ORDER_MARK } from '../http/response-body.js';

/** Half a minute of raw speech. A longer event is read for its end alone. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;
const EVENT_BOUNDS = { depth: 16, values: 1_000 };
/** What is kept of a longer event: the fields behind its audio. */
const TAIL_CHARS = 8_192;
const IS_LAST = 2;
/** The end of the event that repeats all of the speech. */
const LAST_TAIL = /"(status"\s*:\s*2\b|extra_info"\s*:\s*\{)/;
const ERROR_TAIL = /"status_code"\s*:\s*-?[1-9]/;

/** What the reader of the events does with a fault, and with the vendor's own figures. */
interface SpeechReader {
  /** The error for a stream that cannot be used, from the event that explains it; closes the connection. */
  readonly fault: (code: string, event?: unknown) => Error;
  readonly onFigures: (figures: ProviderFigures | undefined) => void;
}

/**
 * The speech in a stream of events, piece by piece. The event with status 2 is the last one. Its audio repeats the whole, and is
 * taken only where none came before. The body may also end behind an event that tells what the speech cost. Throws the reader's
 * fault for an event that is an error or broken, and for an earlier end.
 */
export async function* speechPieces(
  body: Readable,
  { fault, onFigures }: SpeechReader,
): AsyncGenerator<Buffer> {
  let hasAudio = false;
  let mayEnd = false;
  for await (const { data, isCut } of eventsOf(body)) {
    if (isCut && hasAudio && isGoodEnd(data)) return;
    const event = parsed(data);
    if (event === undefined || carriesError(event))
      throw fault(isCut ? 'event_too_long' : 'bad_event', event);
    onFigures(figuresOfBody(event));
    const { isLast, mayBeLast, audio } = pieceOf(event, hasAudio);
    if (audio === undefined) throw fault('bad_audio');
    if (audio.length > 0) {
      hasAudio = true;
      yield audio;
    }
    if (isLast) return;
    mayEnd = mayBeLast;
  }
  if (!mayEnd) throw fault('stream_cut');
}

/** The data of an event, or only its end where it is too long. */
interface EventData {
  readonly data: string;
  readonly isCut: boolean;
}

/** Each line of data is an event: the vendor writes its JSON on one line. Other lines say nothing. */
async function* eventsOf(body: Readable): AsyncGenerator<EventData> {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let isCut = false;
  for await (const bytes of body) {
    const lines = (line + decoder.write(bytes as Buffer)).split('\n');
    line = lines.pop() ?? '';
    for (const whole of lines) {
      yield* eventIn(whole, isCut);
      isCut = false;
    }
    isCut ||= line.length > MAX_EVENT_CHARS;
    if (isCut) line = line.slice(-TAIL_CHARS);
  }
  // The break after the last event may be missing.
  yield* eventIn(line, isCut);
}

function* eventIn(line: string, isCut: boolean): Generator<EventData> {
  if (isCut || line.length > MAX_EVENT_CHARS) {
    yield { data: line.slice(-TAIL_CHARS), isCut: true };
    return;
  }
  const [, data] = /^data:(.*)$/s.exec(line.replace(BYTE_ORDER_MARK, '')) ?? [];
  if (data !== undefined && data.trim() !== '') yield { data, isCut };
}

function parsed(data: string): JsonObject | undefined {
  try {
    new JsonLimits(EVENT_BOUNDS).add(Buffer.from(data));
    const event: unknown = JSON.parse(data);
    return isJsonObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

const isGoodEnd = (tail: string): boolean => LAST_TAIL.test(tail) && !ERROR_TAIL.test(tail);

/** The audio of an event; empty where it has none, or the whole again; undefined where it is no hex. */
function pieceOf({ data, extra_info: extra }: JsonObject, hasAudio: boolean) {
  const part = isJsonObject(data) ? data : {};
  const status = numberAt(part, 'status');
  const mayBeLast = isJsonObject(extra);
  const isWhole = status === IS_LAST || (status === null && mayBeLast);
  const hex = isWhole && hasAudio ? '' : (textAt(part, 'audio') ?? '');
  const bytes = Buffer.from(hex, 'hex');
  const audio = bytes.length * 2 === hex.length ? bytes : undefined;
  return { isLast: status === IS_LAST, mayBeLast, audio };
}
