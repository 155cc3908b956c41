import { Injectable } from '@nestjs/common';
import { SecretBox } from '../common/secrets/secret-box.js';

/** Encrypts webhook secrets for storage. The owner's id is part of the encryption context (docs/operate/secrets.md). */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly box: SecretBox) {}

  /** The encrypted secret. Throws SecretBoxError `no_key`. */
  seal(secret: string, ownerId: string): string {
    return this.box.seal(secret, contextOf(ownerId));
  }

  /** The same secret, encrypted with the first key. Throws SecretBoxError. */
  reseal(sealed: string, ownerId: string): string {
    return this.box.reseal(sealed, contextOf(ownerId));
  }

  /** The decrypted secret of this owner. Throws SecretBoxError. */
  open(sealed: string, ownerId: string): string {
    return this.box.open(sealed, contextOf(ownerId));
  }
}

function contextOf(ownerId: string): string {
  return `webhook/${ownerId}/secret`;
}
