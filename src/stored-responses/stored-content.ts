import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/json-object.js';
import { SecretBox } from '../common/secrets/secret-box.js';

/** What is sealed: an item of a conversation, or a response without its output. */
export type ContentKind = 'item' | 'response';

/** Encrypts stored conversations (decision G-108). The id of the item or response is part of the encryption context. */
@Injectable()
export class StoredContent {
  constructor(private readonly box: SecretBox) {}

  /** Whether there is a key to seal with. */
  get canSeal(): boolean {
    return this.box.keyIds.length > 0;
  }

  /** The encrypted JSON, as it is stored. Throws SecretBoxError `no_key`. */
  seal(kind: ContentKind, content: JsonObject, id: string): string {
    return this.box.seal(JSON.stringify(content), contextOf(kind, id));
  }

  /** The same content, encrypted with the first key. Throws SecretBoxError. */
  reseal(kind: ContentKind, sealed: string, id: string): string {
    return this.box.reseal(sealed, contextOf(kind, id));
  }

  /** The decrypted JSON. Throws SecretBoxError. */
  open(kind: ContentKind, sealed: string, id: string): JsonObject {
    return JSON.parse(this.box.open(sealed, contextOf(kind, id))) as JsonObject;
  }
}

function contextOf(kind: ContentKind, id: string): string {
  return `responses/${kind}/${id}`;
}
