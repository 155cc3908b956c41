import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 6;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD = /^v1\.([\w-]{8})\.$/;
const HEAD_CHARS = 12;
/** A letter of base64 stands for so many bits; letters at the end stand for fewer bytes than three. */
const GROUP_CHARS = 4;
const GROUP_BYTES = 3;

/** Why a secret could not be encrypted or decrypted. */
export type SecretBoxFault = 'no_key' | 'malformed' | 'unknown_key' | 'not_authentic';

const MESSAGES: Readonly<Record<SecretBoxFault, string>> = {
  no_key: 'No secret key is configured.',
  malformed: 'This is not a sealed secret.',
  unknown_key: 'The secret was sealed with a key that is no longer configured.',
  not_authentic: 'The sealed secret was altered, or belongs to another place.',
};

/** A secret that cannot be encrypted or decrypted. The message contains neither secret nor key. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';

  constructor(readonly fault: SecretBoxFault) {
    super(MESSAGES[fault]);
  }
}

/**
 * Encrypts secrets for storage (AES-256-GCM). Sealed text is `v1.<key id>.<base64url of nonce, ciphertext, tag>`. It
 * names its key, so keys can be rotated. The first key encrypts, all keys decrypt.
 */
export class SecretBox {
  private readonly keys: ReadonlyMap<string, KeyObject>;

  /** `secretKeys`: texts of any length with enough randomness, the newest first. */
  constructor(secretKeys: readonly string[]) {
    this.keys = new Map(
      secretKeys.map((text) => [
        derive(text, 'key id', KEY_ID_BYTES).toString('base64url'),
        createSecretKey(derive(text, 'encryption', KEY_BYTES)),
      ]),
    );
  }

  /**
   * Encrypts a text for one context, such as `task/<id>/webhook-secret`. It can be decrypted with the same context
   * only. `keyIndex`: the key that encrypts, by default the first. Throws {@link SecretBoxError} `no_key`.
   */
  seal(plaintext: string, context: string, keyIndex = 0): string {
    const chosen = [...this.keys][keyIndex];
    if (chosen === undefined) throw new SecretBoxError('no_key');
    const [keyId, key] = chosen;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundTo(keyId, context));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    const body = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
    return `${VERSION}.${keyId}.${body.toString('base64url')}`;
  }

  /** The ids of the keys, in their order. */
  get keyIds(): readonly string[] {
    return [...this.keys.keys()];
  }

  /** Encrypts a sealed text again with the first key, for the same context. Throws {@link SecretBoxError}. */
  reseal(sealed: string, context: string): string {
    return this.seal(this.open(sealed, context), context);
  }

  /**
   * Decrypts a text. Throws {@link SecretBoxError}: `malformed`, `unknown_key`, or `not_authentic` when the text was
   * changed or the context is another.
   */
  open(sealed: string, context: string): string {
    const { keyId, body } = takeApart(sealed);
    const key = this.keys.get(keyId);
    if (key === undefined) throw new SecretBoxError('unknown_key');
    const nonce = body.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(keyId, context));
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    const ciphertext = body.subarray(NONCE_BYTES, -TAG_BYTES);
    try {
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
    } catch {
      throw new SecretBoxError('not_authentic');
    }
  }
}

/** One key text serves several purposes; each derives its own bytes from it. */
function derive(text: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', text, '', `shim secret box ${VERSION} ${purpose}`, bytes));
}

/**
 * The additional authenticated data. Version and key id have fixed lengths, so two contexts never give the same text.
 */
function boundTo(keyId: string, context: string): Buffer {
  return Buffer.from(`${VERSION}.${keyId}.${context}`, 'utf8');
}

function takeApart(sealed: string): { keyId: string; body: Buffer } {
  const [, keyId] = HEAD.exec(sealed.slice(0, HEAD_CHARS)) ?? [];
  const text = sealed.slice(HEAD_CHARS);
  const body = Buffer.from(text, 'base64url');
  if (keyId === undefined || body.length < NONCE_BYTES + TAG_BYTES || !isExactly(body, text))
    throw new SecretBoxError('malformed');
  return { keyId, body };
}

/**
 * Whether this is the only text for the bytes. A kept answer has megabytes, so no regular expression goes through it and it is not
 * encoded again: the decoder skips what is no letter, which makes the bytes fewer, and takes two letters of plain base64.
 */
function isExactly(body: Buffer, text: string): boolean {
  const rest = text.length % GROUP_CHARS;
  const bytes = Math.floor((text.length * GROUP_BYTES) / GROUP_CHARS);
  if (rest === 1 || body.length !== bytes || text.includes('+') || text.includes('/')) return false;
  // The last letter has unused bits; if they were accepted, several texts would decode to the same bytes.
  return rest === 0 || body.subarray(1 - rest).toString('base64url') === text.slice(-rest);
}
