import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SharedQuantity } from '../common/shared-quantity.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';

/** The files of one account leave room for at least this many other accounts. */
const SHARES = 2;

/**
 * Counts the callers' files on disk: at most `SPOOL_MAX_BYTES`, half of them of one account. At most
 * `MAX_UPLOADS_PER_ACCOUNT` files of an account may be arriving. Beyond these limits 429 or 503, before a byte is read
 * (decision G-100).
 */
@Injectable()
export class Spool {
  private readonly bytes: SharedQuantity;
  private readonly transfers: SharedQuantity;

  constructor(
    @Inject(GATEWAY_CONFIG)
    {
      spoolMaxBytes,
      maxUploadsPerAccount,
    }: Pick<GatewayConfig, 'spoolMaxBytes' | 'maxUploadsPerAccount'>,
    @Inject(Metrics) metrics: Pick<Metrics, 'watch'>,
  ) {
    this.bytes = new SharedQuantity({
      total: spoolMaxBytes,
      perHolder: spoolMaxBytes / SHARES,
      what: 'bytes of uploads and downloads at once',
    });
    this.transfers = new SharedQuantity({
      total: Infinity,
      perHolder: maxUploadsPerAccount,
      what: 'uploads and downloads at once',
    });
    metrics.watch(
      'gateway_spool_bytes',
      "Bytes of callers' files on disk, those to come included",
      () => this.bytes.inUse,
    );
    metrics.watch(
      'gateway_spool_transfers',
      'Uploads and downloads under way',
      () => this.transfers.inUse,
    );
  }

  /** Room for one file of at most `maxBytes`. Throws `rate_limit_exceeded`, `service_unavailable`. */
  open(accountId: string, maxBytes: number): SpoolRoom {
    const busy = this.transfers.take(accountId, 1);
    if (busy) throw busy;
    const full = this.bytes.take(accountId, maxBytes);
    if (!full) return new SpoolRoom(this.bytes, this.transfers, accountId, maxBytes);
    this.transfers.give(accountId, 1);
    throw full;
  }
}

/** The room that a file takes. The code that opened it has to free it. */
export class SpoolRoom {
  private isComing = true;

  constructor(
    private readonly all: SharedQuantity,
    private readonly transfers: SharedQuantity,
    private readonly accountId: string,
    private bytes: number,
  ) {}

  /** The file has arrived: it now takes its real size, and the account may send another file. */
  filled(path: string, bytes: number): SpooledFile {
    this.arrived();
    this.all.give(this.accountId, this.bytes - bytes);
    this.bytes = bytes;
    return new SpooledFile(path, bytes, this);
  }

  /** There is no file (any more). A second call changes nothing. */
  free(): void {
    this.arrived();
    this.all.give(this.accountId, this.bytes);
    this.bytes = 0;
  }

  private arrived(): void {
    if (this.isComing) this.transfers.give(this.accountId, 1);
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
