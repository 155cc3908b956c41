import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** Maximum nested encodings. A response with more is not usable. */
const MAX_ENCODINGS = 2;
/** Bytes that are decoded ahead of a slow client. */
const BUFFER_BYTES = 16 * 1024;
/** Decoded bytes below which the growth is not checked. */
const UNSUSPECTED_BYTES = 16 * 1024 * 1024;
/**
 * Maximum growth by decoding. Text and sound compress less; a response that grows more is an attempt to fill the
 * memory.
 */
const MAX_GROWTH = 200;
/** The low half of the first byte of a zlib stream; its first two bytes are a multiple of 31. */
const ZLIB_METHOD = 8;
const ZLIB_CHECK = 31;
const HEAD_BYTES = 2;

const GZIP = ['gzip', 'x-gzip'];
const NONE = ['', 'identity', 'none'];
const KNOWN = [...GZIP, 'br', 'deflate', ...NONE];

/**
 * The body without the encodings of its `Content-Encoding`, which requests never ask for; the body itself if it has
 * none. Undefined for an unknown encoding. Bytes are decoded as they arrive, with back-pressure. Bytes that cannot be
 * decoded break the body with the error of `fault`.
 */
export function decodedBody(
  body: Readable,
  contentEncoding: unknown,
  fault: () => Error,
): Readable | undefined {
  const named = typeof contentEncoding === 'string' ? contentEncoding.toLowerCase() : '';
  const encodings = named.split(',').map((name) => name.trim());
  if (!encodings.every((name) => KNOWN.includes(name))) return undefined;
  const applied = encodings.filter((name) => !NONE.includes(name)).reverse();
  if (applied.length > MAX_ENCODINGS) return undefined;
  return applied.reduce<Readable>(
    // The code that reads the body gets the error, unless it has stopped reading.
    (source, name) => new DecodedBody(source, name, fault).on('error', () => undefined),
    body,
  );
}

/** One encoding less. Destroying it destroys its source. */
class DecodedBody extends Readable {
  private decoder: Transform | undefined;
  /** The first byte, kept until the second determines the decoder. */
  private held = Buffer.alloc(0);
  private encodedBytes = 0;
  private decodedBytes = 0;

  constructor(
    private readonly source: Readable,
    private readonly encoding: string,
    private readonly fault: () => Error,
  ) {
    super({ highWaterMark: BUFFER_BYTES });
    // Not piped: calls of `pause` and `resume` on this stream must reach the source.
    source
      .on('data', (chunk: Buffer) => {
        this.decode(chunk);
      })
      .on('end', () => {
        if (this.decoder) this.decoder.end();
        else if (this.held.length > 0) this.destroy(this.fault());
        // An empty body is empty in every encoding.
        else this.push(null);
      })
      .on('error', (error) => {
        this.destroy(error);
      });
  }

  override _read(): void {
    this.decoder?.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.source.destroy();
    this.decoder?.destroy();
    done(error);
  }

  private decode(chunk: Buffer): void {
    if (this.destroyed) return;
    this.held = Buffer.concat([this.held, chunk]);
    if (!this.decoder && this.held.length < HEAD_BYTES) return;
    this.decoder ??= this.decoderFor(this.held);
    this.encodedBytes += this.held.length;
    const hasRoom = this.decoder.write(this.held);
    this.held = Buffer.alloc(0);
    if (!hasRoom) this.source.pause();
  }

  private decoderFor(head: Buffer): Transform {
    const onError = (): void => {
      this.destroy(this.fault());
    };
    return decoderOf(this.encoding, head, onError)
      .on('data', (chunk: Buffer) => {
        this.keep(chunk);
      })
      .on('drain', () => {
        this.source.resume();
      })
      .on('end', () => {
        this.push(null);
      });
  }

  private keep(chunk: Buffer): void {
    this.decodedBytes += chunk.length;
    const isBomb =
      this.decodedBytes > UNSUSPECTED_BYTES && this.decodedBytes > MAX_GROWTH * this.encodedBytes;
    if (isBomb) this.destroy(this.fault());
    else if (!this.push(chunk)) this.decoder?.pause();
  }
}

/** `deflate` is sent with the head of zlib by some servers, and without by others. */
function decoderOf(encoding: string, head: Buffer, onError: () => void): Transform {
  if (encoding === 'br') return createBrotliDecompress().on('error', onError);
  if (GZIP.includes(encoding)) return createGunzip().on('error', onError);
  const [method = 0, check = 0] = head;
  const isZlib = (method & 0xf) === ZLIB_METHOD && (method * 256 + check) % ZLIB_CHECK === 0;
  return isZlib ? createInflate().on('error', onError) : createInflateRaw().on('error', onError);
}
