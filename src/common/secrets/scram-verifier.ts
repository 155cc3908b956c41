import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const HASH = 'sha256';
const HASH_BYTES = 32;
const SALT_BYTES = 16;
/** The number that PostgreSQL uses by itself. */
const ITERATIONS = 4096;
/** Other characters would have to be normalized as the server does (RFC 4013). */
const PLAIN_TEXT = /^[\x20-\x7e]+$/;

/** Whether {@link scramVerifier} takes the password: visible ASCII characters and spaces. */
export function isPlainPassword(password: string): boolean {
  return PLAIN_TEXT.test(password);
}

/**
 * What PostgreSQL keeps of a password (RFC 5803, `SCRAM-SHA-256$…`). A server that gets it instead of the password never sees the
 * password, and neither does its log.
 */
export function scramVerifier(password: string, salt = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, HASH);
  const keyOf = (name: string): Buffer => createHmac(HASH, salted).update(name).digest();
  const storedKey = createHash(HASH).update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
