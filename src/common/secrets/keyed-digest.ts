import { createHmac, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Digests (HMAC-SHA256) of texts. Nobody can test guessed texts without the secret key. Keys can be rotated: the first
 * makes new digests, and comparisons try all.
 */
export class KeyedDigest {
  private readonly keys: readonly Buffer[];

  /**
   * `secretKeys`: as the {@link SecretBox} takes them, at least one. `purpose` separates the digests of different uses.
   */
  constructor(secretKeys: readonly string[], purpose: string) {
    this.keys = secretKeys.map((text) =>
      Buffer.from(hkdfSync('sha256', text, '', `shim digest v1 ${purpose}`, KEY_BYTES)),
    );
  }

  /** The digests of the text, one for each key, that of the newest first. */
  of(text: string): Buffer[] {
    return this.keys.map((key) => createHmac('sha256', key).update(text).digest());
  }
}
