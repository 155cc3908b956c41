import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import type { Busboy } from 'busboy';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { BodyMeter } from '../platform/http-server/request-body/body-quota.js';
import { ChunkCount } from '../platform/http-server/request-body/byte-accumulator.js';
import { checkEncoding } from '../platform/http-server/request-body/body-headers.js';

/** A whole `Content-Type` with parameters, after which a semicolon may stand (RFC 9110). */
const WELL_FORMED =
  /^multipart\/form-data(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[^\s";,]+|"[^"\\]*"))*(?:[ \t]*;)?[ \t]*$/i;
const BOUNDARY_PARAMETER = /;[ \t]*boundary=(?:"([^"]*)"|([^\s";,]+))/i;
/** A valid boundary (RFC 2046). */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;
const NOTHING = Buffer.alloc(0);
/** The character by which the parser replaces bytes that are not UTF-8. */
const REPLACEMENT = '\u{fffd}';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);
/** More than the maximum characters of any field. Counting all in a hostile file would take seconds. */
const MOST_REPLACEMENTS = 400_000;
const MAX_NAME_LENGTH = 128;

/** The error message for a form of which the parser has skipped a part. */
export const UNREADABLE_PART = 'A part of the form has no valid Content-Disposition.';

/** The error message for a form with a part in a charset that the parser does not know. */
export const UNKNOWN_CHARSET = 'A part of the form has an unknown charset.';

/** The error message for a form with a part that has no name, or an empty one. */
export const NAMELESS_PART = 'A part of the form has no name.';

/** The body of a form, which replaces the request for the parser. */
export interface FormSource extends Transform {
  readonly headers: IncomingHttpHeaders;
  /**
   * Counts the parts that this parser reads, and rejects a text without a name or in invalid UTF-8. An error thrown by
   * the parser or one of its listeners ends the form.
   */
  watch(parser: Busboy): void;
  /** Whether the parser has read every part. It skips parts whose headers it cannot read. */
  isWhole(): boolean;
}

/**
 * The body of a form for its parser: what `meter` accepts, and nothing after the final boundary, where the parser would
 * wait for ever. Fails when the request is cut, and with `invalid_request` when a text is invalid UTF-8 (decision G-03).
 * Throws `invalid_multipart` when the `Content-Type` has no valid boundary, and `invalid_request` for a compressed form.
 */
export function formBody(request: Request, meter: BodyMeter): FormSource {
  checkEncoding(request.headers);
  const boundary = boundaryOf(request.headers);
  const form = new FormBounds(boundary);
  const count = new ChunkCount();
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const error = meter.add(chunk.length);
      if (error) done(error);
      else if (!count.add(chunk.length)) done(tooManyChunks());
      else done(null, form.partOf(chunk));
    },
  });
  // This listener stays from the beginning, because the parser may be gone when the error occurs.
  body.on('error', () => undefined);
  const onCut = (): void => {
    // Also checked after the last byte has arrived: bytes that were not read yet are lost with the connection.
    if (!request.readableEnded) body.destroy(new Error('The request was cut short'));
  };
  // This listener is never removed: a connection reset after the rejection must not end the process.
  request.on('error', onCut).on('close', onCut);
  if (request.destroyed) onCut();
  // Rewritten, so that the parser finds the same boundary.
  const contentType = `multipart/form-data; boundary="${boundary}"`;
  const headers = { ...request.headers, 'content-type': contentType };
  let read = 0;
  const watch = (parser: Busboy): void => {
    endOnThrow(parser, body);
    parser.on('file', () => (read += 1));
    parser.on('field', (name: string | undefined, text: string | undefined, { valueTruncated }) => {
      read += 1;
      if (name === undefined) {
        body.destroy(new GatewayError('invalid_multipart', NAMELESS_PART));
        return;
      }
      // The parser returns no bytes. A text was valid UTF-8 if its part contains every U+FFFD of it.
      const isReplaced = timesIn(text ?? '', REPLACEMENT) > form.replacementsIn(read);
      if (isReplaced && !valueTruncated) body.destroy(notUtf8(name));
    });
  };
  return Object.assign(body, { headers, watch, isWhole: () => read === form.parts });
}

/**
 * The parser calls its listeners while it receives a chunk, and the code that passed the chunk cannot handle their
 * errors.
 */
function endOnThrow(parser: Busboy, body: Transform): void {
  const write = parser._write.bind(parser);
  parser._write = (chunk, encoding, done) => {
    try {
      write(chunk, encoding, done);
    } catch (cause) {
      body.destroy(new GatewayError('internal_error', 'An unexpected error occurred.', { cause }));
    }
  };
}

/** Accepts at most `limitBytes` in total, and only bytes that `first` accepts. */
export function meterUpTo(
  limitBytes: number,
  tooLarge: () => GatewayError,
  first?: BodyMeter,
): BodyMeter {
  let total = 0;
  return {
    add: (bytes) => {
      total += bytes;
      return first?.add(bytes) ?? (total > limitBytes ? tooLarge() : undefined);
    },
  };
}

function timesIn(text: string, character: string): number {
  return text.split(character).length - 1;
}

function notUtf8(part: string): GatewayError {
  // The name comes from the client.
  const name = part.slice(0, MAX_NAME_LENGTH);
  return new GatewayError('invalid_request', `${name} is not valid UTF-8.`, { param: name });
}

function tooManyChunks(): GatewayError {
  return new GatewayError('invalid_multipart', 'The form is sent in too many small chunks.');
}

function boundaryOf({ 'content-type': contentType = '' }: IncomingHttpHeaders): string {
  const declared = WELL_FORMED.test(contentType) ? BOUNDARY_PARAMETER.exec(contentType) : null;
  const boundary = declared?.[1] ?? declared?.[2] ?? '';
  if (BOUNDARY.test(boundary)) return boundary;
  const message = 'The Content-Type of a form must declare its boundary.';
  throw new GatewayError('invalid_multipart', message, { param: 'Content-Type' });
}

/** Finds the parts and the end of a form in a body that arrives in pieces. */
class FormBounds {
  /** The number of U+FFFD before each boundary so far, the final one included. */
  private readonly replacements: number[] = [];
  /** The number of U+FFFD after the last boundary. */
  private newReplacements = 0;
  private readonly boundary: Buffer;
  private readonly mark: Buffer;
  /**
   * The last bytes so far, which may contain the beginning of the next boundary. The first boundary needs no preceding
   * line end.
   */
  private seen = Buffer.from('\r\n');
  private isOver = false;

  constructor(boundary: string) {
    this.boundary = Buffer.from(`\r\n--${boundary}`);
    this.mark = Buffer.from(`\r\n--${boundary}--`);
  }

  /** The number of parts of a complete form. */
  get parts(): number {
    return this.replacements.length - 1;
  }

  /** The number of U+FFFD in a completed part, counted from 1. */
  replacementsIn(part: number): number {
    return this.replacements[part] ?? 0;
  }

  /** The part of the next chunk that belongs to the form. */
  partOf(chunk: Buffer): Buffer {
    if (this.isOver) return NOTHING;
    const window = Buffer.concat([this.seen, chunk]);
    const at = window.indexOf(this.mark);
    const begin = this.seen.length;
    this.count(at < 0 ? window : window.subarray(0, at + this.boundary.length), begin);
    if (at < 0) {
      this.seen = window.subarray(-(this.mark.length - 1));
      return chunk;
    }
    this.isOver = true;
    return window.subarray(begin, at + this.mark.length);
  }

  /** Counts the boundaries, and U+FFFD between them, that end after `from`. */
  private count(window: Buffer, from: number): void {
    let at = endsAfter(from, this.boundary, window);
    for (; at >= 0; at = endsAfter(from, this.boundary, window)) {
      this.countReplacements(window.subarray(0, at), from);
      this.replacements.push(this.newReplacements);
      this.newReplacements = 0;
      from = at + this.boundary.length;
    }
    this.countReplacements(window, from);
  }

  private countReplacements(window: Buffer, from: number): void {
    let at = endsAfter(from, REPLACEMENT_BYTES, window);
    while (at >= 0 && this.newReplacements < MOST_REPLACEMENTS) {
      this.newReplacements += 1;
      from = at + REPLACEMENT_BYTES.length;
      at = endsAfter(from, REPLACEMENT_BYTES, window);
    }
  }
}

/** The position of the first occurrence of these bytes that ends after `from`; -1 if there is none. */
function endsAfter(from: number, bytes: Buffer, window: Buffer): number {
  return window.indexOf(bytes, Math.max(from - bytes.length + 1, 0));
}
