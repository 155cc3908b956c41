import { createHash, timingSafeEqual } from 'node:crypto';

const BEARER = /^bearer ([^\s]+)$/i;
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A token that the operator has set. It is compared in constant time. */
export class BearerToken {
  private readonly expected: Buffer;

  constructor(token: string) {
    this.expected = digest(token);
  }

  /** Whether an `Authorization` header holds the token. */
  isIn(authorization: string | undefined): boolean {
    const token = BEARER.exec(authorization ?? '')?.[1] ?? '';
    return timingSafeEqual(digest(token), this.expected);
  }
}
