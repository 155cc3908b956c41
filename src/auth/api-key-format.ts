import { createHash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base-62 characters carry 256 bits. */
const RANDOM_CHARS = 43;
const SHOWN_PREFIX_CHARS = 9;
const KEY_FORM = new RegExp(`^sk-[0-9A-Za-z]{${RANDOM_CHARS}}$`);

/** A new secret key: `sk-` and 256 random bits (decision G-15). */
export function makeKey(): string {
  const characters = Array.from({ length: RANDOM_CHARS }, () =>
    ALPHABET.charAt(randomInt(ALPHABET.length)),
  );
  return `sk-${characters.join('')}`;
}

/** Whether a text has the format of a key. Other text is rejected without a look-up. */
export function looksLikeKey(text: string): boolean {
  return KEY_FORM.test(text);
}

/** SHA-256 of the key; a key is 256 random bits, so no salt or stretching is needed. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The part of the key that lists show. */
export function prefixOf(key: string): string {
  return key.slice(0, SHOWN_PREFIX_CHARS);
}
