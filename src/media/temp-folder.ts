import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { PRIVATE_FOLDER_MODE } from '../common/private-files.js';

/** What callers send is for this user alone. */

/**
 * The folder of recordings while this process works on them: `DATA_DIR/uploads/<pid>`. The code that creates a file
 * removes it. The next start removes the files of killed processes, but nothing of running ones.
 */
@Injectable()
export class TempFolder implements OnModuleInit, OnModuleDestroy {
  /** Absolute. */
  readonly path: string;
  private readonly root: string;

  constructor(@Inject(GATEWAY_CONFIG) { dataDir }: Pick<GatewayConfig, 'dataDir'>) {
    this.root = resolve(dataDir, 'uploads');
    this.path = join(this.root, String(process.pid));
  }

  async onModuleInit(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const left = (await readdir(this.root)).filter((name) => !isOtherLiveProcess(name));
    await Promise.all(left.map((name) => remove(join(this.root, name))));
    await mkdir(this.path, { mode: PRIVATE_FOLDER_MODE });
  }

  async onModuleDestroy(): Promise<void> {
    await remove(this.path);
  }

  /** Path of a file that does not exist yet. */
  newFile(): string {
    return join(this.path, randomUUID());
  }
}

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** A folder with our own process number is a leftover too: in a container every start has the same number. */
function isOtherLiveProcess(name: string): boolean {
  const pid = Number(name);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Error codes of a full disk, a disk quota or a file size limit. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const RETRY_AFTER_SECONDS = 30;

/**
 * The caller's error for a recording that could not be written: 503 `service_unavailable` if the disk is full, because
 * that passes. Every other error is returned unchanged.
 */
export function diskError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!FULL.includes(code)) return error;
  return new GatewayError('service_unavailable', 'The recording cannot be taken now.', {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
