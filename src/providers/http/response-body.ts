import type { Readable } from 'node:stream';
import {
  JsonBoundsError,
  JsonLimits,
} from '../../platform/http-server/request-body/json-limits.js';
import type { OpenedFile } from '../ports/job.port.js';
import type { UpstreamResponse } from './upstream-request.js';

/** Thrown for a body that is larger than its limit. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly code = 'BODY_TOO_LARGE';
}

/** Reads a whole body of at most `limitBytes`. A longer body is destroyed, and {@link BodyTooLargeError} is thrown. */
export async function readBounded(
  body: AsyncIterable<Buffer>,
  limitBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limitBytes) throw new BodyTooLargeError(`body larger than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Some servers put it before a text; JSON and SSE do not have it. */
export const BYTE_ORDER_MARK = '\uFEFF';
/** Maximum nesting of a response. Serializing deeper JSON could overflow the stack. */
export const MAX_RESPONSE_DEPTH = 64;
/** Twice the values of an alignment of 100,000 characters, which is the largest response apart from chat. */
const MAX_VALUES = 1_000_000;

const MAX_ERROR_BODY_BYTES = 64 * 1024;
const ERROR_BODY_WAIT_MS = 5_000;
/** Maximum characters that are read of an error in plain text. */
const MAX_ERROR_CHARS = 2_000;

class SlowBodyError extends Error {}

/** Limits of a JSON response. */
export interface ResponseLimits {
  readonly bytes: number;
  /** Default: a million. */
  readonly values?: number | undefined;
  /** The time that its body may take, in milliseconds. Default: no limit. */
  readonly bodyMs?: number | undefined;
}

/**
 * The body as JSON; undefined when it exceeds its limits, nests too deep or is not JSON. Its values are counted while the
 * bytes arrive: 64 MB of empty objects would stop the process for a minute and take up its memory.
 */
export async function readResponseJson(
  body: Readable,
  { bytes, values = MAX_VALUES, bodyMs }: ResponseLimits,
): Promise<unknown> {
  const structure = new JsonLimits({ depth: MAX_RESPONSE_DEPTH, values });
  const giveUp = (): void => {
    body.destroy(new SlowBodyError());
  };
  const timer = bodyMs === undefined ? undefined : setTimeout(giveUp, bodyMs);
  try {
    const raw = await readBounded(counted(body, structure), bytes);
    return parseResponseJson(raw);
  } catch (error) {
    const isUnusable =
      error instanceof SlowBodyError ||
      error instanceof SyntaxError ||
      error instanceof BodyTooLargeError ||
      error instanceof JsonBoundsError;
    if (isUnusable) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The body of an error response as JSON, or the beginning of its text if it is plain text. Null for anything else, and
 * if it is too long, too slow, broken or nested too deeply, because the recursive search for error words could overflow
 * the stack.
 */
export async function readErrorBody(body: Readable, contentType?: unknown): Promise<unknown> {
  const structure = new JsonLimits({ depth: MAX_RESPONSE_DEPTH, values: MAX_VALUES });
  const timer = setTimeout(
    () => body.destroy(new Error('error body too slow')),
    ERROR_BODY_WAIT_MS,
  );
  try {
    const bytes = await readBounded(counted(body, structure), MAX_ERROR_BODY_BYTES);
    try {
      return parseResponseJson(bytes);
    } catch {
      return isPlainText(contentType) ? bytes.toString().trim().slice(0, MAX_ERROR_CHARS) : null;
    }
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** HTML pages come from intermediate servers and say nothing about the request. */
function isPlainText(contentType: unknown): boolean {
  return typeof contentType === 'string' && /^text\/plain\b/i.test(contentType);
}

/** The bytes as JSON, which may begin with a byte order mark. Throws SyntaxError for anything else. */
export function parseResponseJson(bytes: Buffer): unknown {
  const text = bytes.toString();
  return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text) as unknown;
}

async function* counted(body: Readable, structure: JsonLimits): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    structure.add(chunk);
    yield chunk;
  }
}

/** Content types of responses that contain a message instead of a file. */
const MESSAGE = /^\s*(text\/|application\/(json|xml|xhtml))/i;

/** What a response says about its file; null where it says nothing. */
export function contentTypeOf({ headers }: UpstreamResponse): string | null {
  const type = headers['content-type'];
  return typeof type === 'string' ? type : null;
}

/** The file that a response holds. The announced size of a compressed one says nothing. */
export function fileIn(response: UpstreamResponse): OpenedFile {
  const { body, headers } = response;
  const bytes = Number(headers['content-encoding'] === undefined && headers['content-length']);
  const announcedBytes = bytes > 0 ? bytes : undefined;
  return { body, contentType: contentTypeOf(response), announcedBytes };
}

/** Whether a response with this content type is a message instead of a file. */
export function isMessageType(contentType: string | null): boolean {
  return contentType !== null && MESSAGE.test(contentType);
}
