import { Injectable } from '@nestjs/common';
import { isJsonObject } from '../../common/json-object.js';
import { SecretBox, SecretBoxError } from '../../common/secrets/secret-box.js';
import type { SealedPart } from '../../providers/ports/conversation.js';

/**
 * `encrypted_content` of reasoning items: a vendor's own parts, such as signatures, sealed by the gateway for the account, so
 * that a caller that stores nothing here can send them back.
 */
@Injectable()
export class ReasoningSeal {
  constructor(private readonly box: SecretBox) {}

  /** The sealed text; null where the gateway has no key. */
  seal({ family, value }: SealedPart, accountId: string): string | null {
    if (this.box.keyIds.length === 0) return null;
    return this.box.seal(JSON.stringify({ family, value }), contextOf(accountId));
  }

  /** The vendor's part; undefined for a text that was not sealed here for this account. */
  open(sealed: unknown, accountId: string): SealedPart | undefined {
    if (typeof sealed !== 'string') return undefined;
    try {
      const part: unknown = JSON.parse(this.box.open(sealed, contextOf(accountId)));
      return isJsonObject(part) ? (part as unknown as SealedPart) : undefined;
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }
}

function contextOf(accountId: string): string {
  return `responses/reasoning/${accountId}`;
}
