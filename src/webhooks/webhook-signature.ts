import { createHmac } from 'node:crypto';

/** Header with the signature of a delivery. */
export const SIGNATURE_HEADER = 'X-Shim-Signature';

/**
 * The value of the signature header: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the raw body, keyed by the secret's
 * UTF-8 bytes>` (API: Webhook events).
 */
export function signatureOf(secret: string, timestampSeconds: number, body: Buffer): string {
  const mac = createHmac('sha256', Buffer.from(secret, 'utf8'));
  return `t=${timestampSeconds},v1=${mac.update(`${timestampSeconds}.`).update(body).digest('hex')}`;
}
