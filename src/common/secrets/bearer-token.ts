import { createHash, timingSafeEqual } from 'node:crypto';

const BEARER = /^bearer ([^\s]+)$/i;

/** The token of an `Authorization` header with the scheme Bearer; undefined for every other header. */
export const bearerTokenOf = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A token that the operator has set. It is compared in constant time. */
export class BearerToken {
  private readonly expected: Buffer;

  constructor(token: string) {
    this.expected = digest(token);
  }

  /** Whether an `Authorization` header holds the token. */
  isIn(authorization: string | undefined): boolean {
    return timingSafeEqual(digest(bearerTokenOf(authorization) ?? ''), this.expected);
  }
}
