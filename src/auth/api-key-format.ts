import { createHash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base-62 characters carry 256 bits. */
const RANDOM_CHARS = 43;
/** Shown of them, after what is the same for all keys of a cell. */
const SHOWN_RANDOM_CHARS = 6;
/** A cell's name is short, so that no key of the first cell can be read as one of another. */
const KEY_FORM = new RegExp(`^sk-(?:c([0-9a-z]{1,8})-)?[0-9A-Za-z]{${RANDOM_CHARS}}$`);

/** A new secret key: `sk-`, in a cell also `c`, its name and `-`, and 256 random bits (decisions G-15, G-113). */
export function makeKey(cell?: string): string {
  const characters = Array.from({ length: RANDOM_CHARS }, () =>
    ALPHABET.charAt(randomInt(ALPHABET.length)),
  );
  return `sk-${cell === undefined ? '' : `c${cell}-`}${characters.join('')}`;
}

/** Whether a text has the format of a key. Other text is rejected without a look-up. */
export function looksLikeKey(text: string): boolean {
  return KEY_FORM.test(text);
}

/** The cell that a key names; undefined for one of the first cell, and for a text that is no key. */
export function cellOf(key: string): string | undefined {
  return KEY_FORM.exec(key)?.[1];
}

/** SHA-256 of the key; a key is 256 random bits, so no salt or stretching is needed. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The part of the key that lists show. */
export function prefixOf(key: string): string {
  return key.slice(0, SHOWN_RANDOM_CHARS - RANDOM_CHARS);
}
