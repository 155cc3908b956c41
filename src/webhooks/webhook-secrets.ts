import { Injectable } from '@nestjs/common';
import { SecretBox } from '../common/secrets/secret-box.js';

/** Encrypts webhook secrets for storage, each for the one task whose deliveries it signs (docs/operate/secrets.md). */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly box: SecretBox) {}

  /** The secret as it is stored. Throws SecretBoxError `no_key`. */
  seal(secret: string, ownerId: string): string {
    return this.box.seal(secret, contextOf(ownerId));
  }

  /** The same secret, sealed with the first key. Throws SecretBoxError. */
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
