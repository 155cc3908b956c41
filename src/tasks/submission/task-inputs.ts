import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json-object.js';
import { SecretBox } from '../../common/secrets/secret-box.js';

/** Encrypts what providers are asked to do (callers' texts and URLs) for storage, each for its own task. */
@Injectable()
export class TaskInputs {
  constructor(private readonly box: SecretBox) {}

  /** The input as it is stored. */
  seal(input: JsonObject, taskId: string): string {
    return this.box.seal(JSON.stringify(input), contextOf(taskId));
  }

  /** The same input, sealed with the first key. Throws SecretBoxError. */
  reseal(sealed: string, taskId: string): string {
    return this.box.reseal(sealed, contextOf(taskId));
  }

  /** The decrypted input of this task; empty after it was wiped. Throws SecretBoxError. */
  open(sealed: string | null, taskId: string): JsonObject {
    return sealed === null
      ? {}
      : (JSON.parse(this.box.open(sealed, contextOf(taskId))) as JsonObject);
  }
}

function contextOf(taskId: string): string {
  return `task/${taskId}/input`;
}
