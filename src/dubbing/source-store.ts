import { createReadStream } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { MEDIA_LIMIT_BYTES } from '../platform/http-client/download.js';
import type { StoredFile } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';

/** A source that was never submitted is kept longer than its task can be open, by this much. */
const SOURCE_SLACK_MS = 3_600_000;

/** A measured source on this machine. */
interface LocalSource {
  readonly accountId: string;
  /** The call that brought it. */
  readonly ownerId: string;
  readonly path: string;
  readonly contentType: string;
}

/** Keeps the sources of dubs until the provider has them. */
@Injectable()
export class SourceStore {
  constructor(
    private readonly files: StoredFiles,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'taskDeadlineMs'>,
  ) {}

  /** Throws what {@link StoredFiles.save} throws. */
  keep({ path, ...source }: LocalSource): Promise<StoredFile> {
    return this.files.save({
      ...source,
      // The code that stores the file gets the error.
      body: createReadStream(path).on('error', () => undefined),
      maxBytes: MEDIA_LIMIT_BYTES,
      expiresAt: new Date(this.clock.nowMs() + this.config.taskDeadlineMs + SOURCE_SLACK_MS),
    });
  }

  remove(accountId: string, fileId: string): Promise<void> {
    return this.files.remove(accountId, fileId);
  }
}
