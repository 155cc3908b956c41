import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';

/** A whole `Content-Type` with parameters as RFC 9110 writes them. */
const WELL_FORMED =
  /^multipart\/form-data(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[^\s";,]+|"[^"\\]*"))*[ \t]*$/i;
const BOUNDARY_PARAMETER = /;[ \t]*boundary=(?:"([^"]*)"|([^\s";,]+))/i;
/** What RFC 2046 lets a boundary be made of. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;
const NOTHING = Buffer.alloc(0);

/** The body of a form, in place of the request that it comes from. */
export type FormSource = Transform & { readonly headers: IncomingHttpHeaders };

/**
 * The body of a form as its parser may see it: at most `limitBytes`, and nothing behind the final boundary, where the parser
 * would wait for ever. Ends in an error when the request is cut short. Throws `invalid_multipart` where the `Content-Type`
 * declares no usable boundary.
 */
export function formBody(
  request: Request,
  limitBytes: number,
  tooLarge: () => GatewayError,
): FormSource {
  const boundary = boundaryOf(request.headers);
  const form = new FormEnd(boundary);
  let bytes = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limitBytes) done(tooLarge());
      else done(null, form.partOf(chunk));
    },
  });
  // From the beginning, because the parser may be gone when the error comes.
  body.on('error', () => undefined);
  const onCut = (): void => {
    // Also when the last byte has arrived: what nobody has read yet is lost with the connection.
    if (!request.readableEnded) body.destroy(new Error('The request was cut short'));
  };
  // Stays on: a reset after the refusal must not end the process.
  request.on('error', onCut).on('close', onCut);
  if (request.destroyed) onCut();
  // Written anew, so that the parser finds the same boundary.
  const contentType = `multipart/form-data; boundary="${boundary}"`;
  const headers = { ...request.headers, 'content-type': contentType };
  return Object.assign(body, { headers });
}

function boundaryOf({ 'content-type': contentType = '' }: IncomingHttpHeaders): string {
  const declared = WELL_FORMED.test(contentType) ? BOUNDARY_PARAMETER.exec(contentType) : null;
  const boundary = declared?.[1] ?? declared?.[2] ?? '';
  if (BOUNDARY.test(boundary)) return boundary;
  const message = 'The Content-Type of a form must declare its boundary.';
  throw new GatewayError('invalid_multipart', message, { param: 'Content-Type' });
}

/** Finds where a form ends, in a body that comes in pieces. */
class FormEnd {
  private readonly mark: Buffer;
  /** The end of what was seen, where the mark may have begun. The first boundary needs no line end before it. */
  private seen = Buffer.from('\r\n');
  private isOver = false;

  constructor(boundary: string) {
    this.mark = Buffer.from(`\r\n--${boundary}--`);
  }

  /** What of the next chunk belongs to the form. */
  partOf(chunk: Buffer): Buffer {
    if (this.isOver) return NOTHING;
    const window = Buffer.concat([this.seen, chunk]);
    const at = window.indexOf(this.mark);
    const begin = this.seen.length;
    if (at < 0) {
      this.seen = window.subarray(-(this.mark.length - 1));
      return chunk;
    }
    this.isOver = true;
    return window.subarray(begin, at + this.mark.length);
  }
}
