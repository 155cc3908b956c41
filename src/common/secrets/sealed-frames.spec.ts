import { createSecretKey, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { FRAME_BYTES, FrameOpener, FrameSealer, sealedBytesOf } from './sealed-frames.js';

const KEY = createSecretKey(randomBytes(32));
const CONTEXT = 'answers/1';
const SEALED_BYTES = FRAME_BYTES + 16;

function sealed(text: Buffer): Buffer {
  const sealer = new FrameSealer(KEY, CONTEXT);
  const frames: Buffer[] = [];
  let at = 0;
  for (; at + FRAME_BYTES <= text.length; at += FRAME_BYTES)
    frames.push(sealer.seal(text.subarray(at, at + FRAME_BYTES), false));
  frames.push(sealer.seal(text.subarray(at), true));
  return Buffer.concat(frames);
}

/** Opens what arrives in pieces of this size. */
function opened(bytes: Buffer, pieceBytes = 10_007, key = KEY, context = CONTEXT): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(bytes.subarray(at, at + pieceBytes));
  return buffer(Readable.from(pieces).pipe(new FrameOpener(key, context)));
}

describe('a text that is sealed in frames', () => {
  it.each([0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 5])(
    'of %d bytes is opened as it was, however its pieces arrive',
    async (bytes) => {
      const text = randomBytes(bytes);
      const whole = sealed(text);
      expect(whole.length).toBe(sealedBytesOf(bytes));
      for (const pieceBytes of [1_009, FRAME_BYTES, SEALED_BYTES, whole.length])
        expect((await opened(whole, pieceBytes)).equals(text)).toBe(true);
    },
  );

  it('is not opened with another key or for another context', async () => {
    const whole = sealed(randomBytes(100));
    const other = createSecretKey(randomBytes(32));
    await expect(opened(whole, 50, other)).rejects.toThrow();
    await expect(opened(whole, 50, KEY, 'answers/2')).rejects.toThrow();
  });

  it('is not opened where a frame is missing, changed, repeated or moved', async () => {
    const whole = sealed(randomBytes(2 * FRAME_BYTES + 10));
    const [first, second, last] = [
      whole.subarray(0, SEALED_BYTES),
      whole.subarray(SEALED_BYTES, 2 * SEALED_BYTES),
      whole.subarray(2 * SEALED_BYTES),
    ];
    const changed = Buffer.from(last);
    changed[3] = (changed[3] ?? 0) + 1;
    const wrong = [
      [first, second],
      [first, last],
      [second, first, last],
      [first, first, last],
      [first, second, changed],
      [first, second, last.subarray(0, -1)],
      [first, second, last, last],
      [],
    ];
    for (const frames of wrong) await expect(opened(Buffer.concat(frames))).rejects.toThrow();
  });
});
