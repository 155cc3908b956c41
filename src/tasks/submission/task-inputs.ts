import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json-object.js';
import { SecretBox } from '../../common/secrets/secret-box.js';

/** Encrypts the inputs of tasks (callers' texts and URLs) for storage. The task id is part of the encryption context. */
@Injectable()
export class TaskInputs {
  constructor(private readonly box: SecretBox) {}

  /** The encrypted input, as it is stored. */
  seal(input: JsonObject, taskId: string): string {
    return this.box.seal(JSON.stringify(input), contextOf(taskId));
  }

  /** The same input, encrypted with the first key. Throws SecretBoxError. */
  reseal(sealed: string, taskId: string): string {
    return this.box.reseal(sealed, contextOf(taskId));
  }

  /** The decrypted input of this task; empty after it was deleted. Throws SecretBoxError. */
  open(sealed: string | null, taskId: string): JsonObject {
    return sealed === null
      ? {}
      : (JSON.parse(this.box.open(sealed, contextOf(taskId))) as JsonObject);
  }
}

function contextOf(taskId: string): string {
  return `task/${taskId}/input`;
}
