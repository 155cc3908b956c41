import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import type { BodyMeter } from '../common/http/bodies/body-gate.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Metrics } from '../platform/observability/metrics.js';

/** One account may have at most one of this many equal parts. */
const SHARES = 2;

/**
 * Counts the callers' files on disk as they arrive, and answers that are held back there: at most `SPOOL_MAX_BYTES`, half of them of one account. At most
 * `MAX_UPLOADS_PER_ACCOUNT` files of an account may be arriving. Beyond these limits 429 or 503 (decision G-100). What has
 * not arrived takes no room: else senders who only declare a file could keep all others out.
 */
@Injectable()
export class Spool {
  private readonly bytes: Quota;
  private readonly transfers: Quota;

  constructor(
    @Inject(GATEWAY_CONFIG)
    {
      spoolMaxBytes,
      maxUploadsPerAccount,
    }: Pick<GatewayConfig, 'spoolMaxBytes' | 'maxUploadsPerAccount'>,
    @Inject(Metrics) metrics: Pick<Metrics, 'watch'>,
  ) {
    this.bytes = new Quota({
      total: spoolMaxBytes,
      perBucket: spoolMaxBytes / SHARES,
      what: 'bytes of uploads and downloads at once',
    });
    this.transfers = new Quota({
      total: Infinity,
      perBucket: maxUploadsPerAccount,
      what: 'uploads and downloads at once',
    });
    metrics.watch(
      'gateway_spool_bytes',
      "Bytes of callers' files and held answers on disk",
      () => this.bytes.inUse,
    );
    metrics.watch(
      'gateway_spool_transfers',
      'Uploads and downloads under way',
      () => this.transfers.inUse,
    );
  }

  /**
   * Room for one file, which takes none yet. Throws `rate_limit_exceeded`, `service_unavailable` when another transfer or
   * `expectedBytes` more would be too much now: one where the size is not known, so that a full spool refuses at once.
   */
  open(accountId: string, expectedBytes = 1): SpoolRoom {
    const refusal =
      this.bytes.check(accountId, expectedBytes) ?? this.transfers.acquire(accountId, 1);
    if (refusal) throw refusal;
    return new SpoolRoom(this.bytes, accountId, this.transfers);
  }

  /** Room for an answer that is held back. It is no transfer of the caller, so it is never refused before it has bytes. */
  openAnswer(accountId: string): SpoolRoom {
    return new SpoolRoom(this.bytes, accountId);
  }
}

/** The room that a file takes. The code that opened it has to free it. */
export class SpoolRoom implements BodyMeter {
  private isComing = true;
  private bytes = 0;

  constructor(
    private readonly all: Quota,
    private readonly accountId: string,
    private readonly transfers?: Quota,
  ) {}

  /** Takes room for bytes that arrive. Returns the refusal when there is none; a room that was freed takes nothing. */
  add(bytes: number): GatewayError | undefined {
    const refusal = this.isComing ? this.all.acquire(this.accountId, bytes) : undefined;
    if (this.isComing && refusal === undefined) this.bytes += bytes;
    return refusal;
  }

  /** The file has arrived: it now takes its real size, and the account may send another file. */
  filled(path: string, bytes: number): SpooledFile {
    this.arrived();
    this.all.release(this.accountId, this.bytes - bytes);
    this.bytes = bytes;
    return new SpooledFile(path, bytes, this);
  }

  /** There is no file (any more). A second call changes nothing. */
  free(): void {
    this.arrived();
    this.all.release(this.accountId, this.bytes);
    this.bytes = 0;
  }

  private arrived(): void {
    if (this.isComing) this.transfers?.release(this.accountId, 1);
    this.isComing = false;
  }
}

/** A complete file on disk. Its owner has to remove it. */
export class SpooledFile {
  constructor(
    readonly path: string,
    readonly sizeBytes: number,
    private readonly room: SpoolRoom,
  ) {}

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    this.room.free();
  }
}
