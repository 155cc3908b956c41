import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const MAX_TEXTS = 1000;
/** Enough raw audio to tell two recordings apart; the first piece sent is always longer. */
const FINGERPRINT_BYTES = 2048;

/**
 * What was said in the recordings made without a tag (raw PCM), found again by how the recording begins. Callers who
 * put a WAV header in front of the samples get their words back too.
 */
export class SpokenTexts {
  private readonly texts = new LRUCache<string, string>({ max: MAX_TEXTS });

  /** Passes a raw recording on and remembers its words. */
  async *remember(recording: AsyncIterable<Uint8Array>, text: string): AsyncGenerator<Uint8Array> {
    let isFirst = true;
    for await (const piece of recording) {
      if (isFirst) this.texts.set(fingerprint(piece), text);
      isFirst = false;
      yield piece;
    }
  }

  /** The words of an uploaded WAV file around a remembered recording. */
  recall(file: Buffer): string | undefined {
    const data = file.subarray(0, FINGERPRINT_BYTES).indexOf('data', 12, 'latin1');
    return data < 0 ? undefined : this.texts.get(fingerprint(file.subarray(data + 8)));
  }
}

function fingerprint(samples: Uint8Array): string {
  return createHash('sha256').update(samples.subarray(0, FINGERPRINT_BYTES)).digest('base64');
}
