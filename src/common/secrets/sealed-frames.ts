import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';

const CIPHER = 'aes-256-gcm';
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const COUNTER_AT = 8;

/** What is encrypted at once: some 50 µs of work. */
export const FRAME_BYTES = 65_536;
const SEALED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES;

/** Size of so many bytes once they are sealed. */
export function sealedBytesOf(bytes: number): number {
  return bytes + (Math.floor(bytes / FRAME_BYTES) + 1) * TAG_BYTES;
}

/**
 * Encrypts one long text in frames (AES-256-GCM), each with its number, so that none can be left out, repeated or moved, and the last
 * one marked as such. The key may seal nothing else.
 */
export class FrameSealer {
  private frames = 0;

  /** `key`: 32 bytes. `context`: what the text belongs to; it opens with the same only. */
  constructor(
    private readonly key: KeyObject,
    private readonly context: string,
  ) {}

  /** The next frame. All but the last one have {@link FRAME_BYTES}, and the last one has fewer. */
  seal(frame: Buffer, isLast: boolean): Buffer {
    const nonce = nonceOf(this.frames, isLast);
    const cipher = createCipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(this.context));
    this.frames += 1;
    return Buffer.concat([cipher.update(frame), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts what a {@link FrameSealer} has sealed. Fails where any of it is missing or was changed; nothing of such a frame comes out. */
export class FrameOpener extends Transform {
  private frames = 0;
  private filledBytes = 0;
  private readonly frame = Buffer.allocUnsafe(SEALED_FRAME_BYTES);

  constructor(
    private readonly key: KeyObject,
    private readonly context: string,
  ) {
    super({ readableHighWaterMark: FRAME_BYTES });
  }

  override _transform(piece: Buffer, _encoding: string, done: TransformCallback): void {
    try {
      for (let at = 0; at < piece.length;) {
        const taken = piece.copy(this.frame, this.filledBytes, at);
        at += taken;
        this.filledBytes += taken;
        if (this.filledBytes === SEALED_FRAME_BYTES) this.push(this.opened(false));
      }
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    try {
      done(null, this.opened(true));
    } catch (error) {
      done(error as Error);
    }
  }

  private opened(isLast: boolean): Buffer {
    const bytes = this.frame.subarray(0, this.filledBytes);
    if (bytes.length < TAG_BYTES) throw new Error('the end of a sealed text is missing');
    const nonce = nonceOf(this.frames, isLast);
    const decipher = createDecipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(this.context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    this.frames += 1;
    this.filledBytes = 0;
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  }
}

function nonceOf(frame: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce[0] = isLast ? 1 : 0;
  nonce.writeUInt32BE(frame, COUNTER_AT);
  return nonce;
}
