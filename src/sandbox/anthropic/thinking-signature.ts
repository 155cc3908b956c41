import { hashText } from '../media/seeded-random.js';

const MARK = 'sandbox-thinking';

/** The signature of shown thoughts, without which they are not taken back. */
export function thoughtSignatureOf(thinking: string): string {
  return Buffer.from(`${MARK}:${hashText(thinking)}`).toString('base64');
}

/** Whether the signature is the one of these thoughts. */
export function isSignatureOf(thinking: string, signature: unknown): boolean {
  return signature === thoughtSignatureOf(thinking);
}
