import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const MAX_TEXTS = 1000;
/** This many bytes of raw audio tell two recordings apart. The first piece that is sent is always longer. */
const FINGERPRINT_BYTES = 2048;

/**
 * The words of recordings without a tag (raw PCM), found by the first bytes of a recording. They are found too when a
 * caller puts a WAV header in front of the samples.
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

  /** The words of an uploaded WAV file that contains a remembered recording. */
  recall(file: Buffer): string | undefined {
    const data = file.subarray(0, FINGERPRINT_BYTES).indexOf('data', 12, 'latin1');
    return data < 0 ? undefined : this.texts.get(fingerprint(file.subarray(data + 8)));
  }
}

function fingerprint(samples: Uint8Array): string {
  return createHash('sha256').update(samples.subarray(0, FINGERPRINT_BYTES)).digest('base64');
}
