import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** What a secret of a session or of a link looks like. Other text is refused without a look-up. */
export const SECRET_FORM = /^[\w-]{43}$/;

/** A new secret: 256 random bits, as text for a cookie or a URL. */
export const makeSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** SHA-256 of the secret; it is 256 random bits, so no salt or stretching is needed. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();
