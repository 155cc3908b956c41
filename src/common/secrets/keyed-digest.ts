import { createHmac, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Digests of texts that cannot be guessed from without a secret key (HMAC-SHA256). Keys can be rotated: the first makes new
 * digests, all are tried in comparisons.
 */
export class KeyedDigest {
  readonly #keys: readonly Buffer[];

  /** `secretKeys`: as the {@link SecretBox} takes them; at least one. `purpose` keeps digests of different uses apart. */
  constructor(secretKeys: readonly string[], purpose: string) {
    this.#keys = secretKeys.map((text) =>
      Buffer.from(hkdfSync('sha256', text, '', `shim digest v1 ${purpose}`, KEY_BYTES)),
    );
  }

  /** The digest of the text by every key, the newest first. */
  of(text: string): Buffer[] {
    return this.#keys.map((key) => createHmac('sha256', key).update(text).digest());
  }
}
