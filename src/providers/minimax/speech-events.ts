import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
import { carriesError } from '../http/error-facts.js';
import { figuresOfBody } from '../http/figures.js';
import { numberAt, textAt } from '../http/json-fields.js';

/** An event has about a second of speech: 100 kB as hex. One that repeats the whole is longer, and is not wanted. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;
const IS_LAST = 2;

/** What the reader of the events does with a fault, and with the vendor's own figures. */
interface SpeechReader {
  /** The error for a stream that cannot be used, from the event that explains it; closes the connection. */
  readonly fault: (code: string, event?: unknown) => Error;
  readonly onFigures: (figures: ProviderFigures) => void;
}

/**
 * The speech in a stream of events, piece by piece. The event with status 2 is the last one; its audio repeats the whole, and is
 * taken only where none came before. Throws the reader's fault for an event that is an error or broken, and for an end before the
 * last event.
 */
export async function* speechPieces(
  body: Readable,
  { fault, onFigures }: SpeechReader,
): AsyncGenerator<Buffer> {
  let events: string[] = [];
  const faults: string[] = [];
  const decoder = new StringDecoder('utf8');
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') faults.push('event_too_long');
    },
  });
  let hasAudio = false;
  for await (const text of withLastBreak(body, decoder)) {
    parser.feed(text);
    const [tooLong] = faults;
    if (tooLong !== undefined) throw fault(tooLong);
    const arrived = events;
    events = [];
    for (const data of arrived) {
      const event = parsed(data);
      if (event === undefined || carriesError(event)) throw fault('bad_event', event);
      const figures = figuresOfBody(event);
      if (figures) onFigures(figures);
      const { isLast, audio } = pieceOf(event);
      if (audio === undefined) throw fault('bad_audio');
      if (audio.length > 0 && !(isLast && hasAudio)) {
        hasAudio = true;
        yield audio;
      }
      if (isLast) return;
    }
  }
  throw fault('stream_cut');
}

/** The texts of the body, and a break after the last event, which some servers leave out. */
async function* withLastBreak(body: Readable, decoder: StringDecoder): AsyncGenerator<string> {
  for await (const bytes of body) yield decoder.write(bytes as Buffer);
  yield '\n\n';
}

function parsed(data: string): JsonObject | undefined {
  try {
    const event: unknown = JSON.parse(data);
    return isJsonObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** The audio of an event, empty where it has none, undefined where it is no hex. */
function pieceOf({ data }: JsonObject): { readonly isLast: boolean; readonly audio?: Buffer } {
  const part = isJsonObject(data) ? data : {};
  const hex = textAt(part, 'audio') ?? '';
  const audio = Buffer.from(hex, 'hex');
  const isLast = numberAt(part, 'status') === IS_LAST;
  return audio.length * 2 === hex.length ? { isLast, audio } : { isLast };
}
