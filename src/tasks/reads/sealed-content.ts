import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { ByteRange } from '../../common/byte-range.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { SecretBox, SecretBoxError } from '../../common/secrets/secret-box.js';
import type { StoredFile } from '../../platform/storage/stored-file.js';

const contextOf = (taskId: string): string => `task/${taskId}/content`;

/** Encrypts results of tasks that are words of the caller, such as a transcript, as they lie in the storage. */
@Injectable()
export class SealedContent {
  constructor(private readonly box: SecretBox) {}

  /** The bytes for the storage. Throws SecretBoxError. */
  seal(words: Buffer, taskId: string): Buffer {
    return Buffer.from(this.box.seal(words.toString(), contextOf(taskId)));
  }

  /**
   * The stored file with its words, decrypted as a whole for each reader. Reading throws 410 `content_expired` where its key is
   * gone.
   */
  opened(file: StoredFile, sizeBytes: number, taskId: string): StoredFile {
    const read = async (stored: Promise<Readable>, range?: ByteRange): Promise<Readable> => {
      const words = this.open(await text(await stored), taskId);
      return Readable.from([range ? words.subarray(range.first, range.last + 1) : words]).on(
        'error',
        () => undefined,
      );
    };
    return {
      ...file,
      sizeBytes,
      open: (range) => read(file.open(), range),
      download: (range) => read(file.download(), range),
    };
  }

  private open(sealed: string, taskId: string): Buffer {
    try {
      return Buffer.from(this.box.open(sealed, contextOf(taskId)));
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      throw new GatewayError('content_expired', 'The key of the file is gone.', { cause: error });
    }
  }
}
