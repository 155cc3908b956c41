import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import type { BodyMeter } from '../platform/http-server/request-body/body-quota.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Metrics } from '../platform/observability/metrics.js';

/** One account may use at most one of this many equal parts. */
const ACCOUNT_PARTS = 2;

/**
 * Limits the callers' files and the provider responses that are held back on disk: at most `SPOOL_MAX_BYTES`, half of
 * them of one account, and at most `MAX_UPLOADS_PER_ACCOUNT` arriving files of an account. Beyond these limits 429 or
 * 503 (decision G-100). Only bytes that have arrived count: otherwise senders who only declare large files could lock
 * out all others.
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
      perBucket: spoolMaxBytes / ACCOUNT_PARTS,
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
   * Opens a reservation for one file, with no bytes yet. Throws `rate_limit_exceeded` or `service_unavailable` if
   * another transfer or `expectedBytes` more would exceed a limit now. The default is one byte, for an unknown size, so
   * that a full spool rejects at once.
   */
  open(accountId: string, expectedBytes = 1): SpoolReservation {
    const error =
      this.bytes.check(accountId, expectedBytes) ?? this.transfers.acquire(accountId, 1);
    if (error) throw error;
    return new SpoolReservation(this.bytes, accountId, this.transfers);
  }

  /**
   * Opens a reservation for a provider response that is held back. It does not count as a transfer of the caller, so it
   * is never rejected before it has bytes.
   */
  openResponse(accountId: string): SpoolReservation {
    return new SpoolReservation(this.bytes, accountId);
  }
}

/** The bytes of one file in the spool. The code that opened it must call {@link free}. */
export class SpoolReservation implements BodyMeter {
  private isArriving = true;
  private bytes = 0;

  constructor(
    private readonly all: Quota,
    private readonly accountId: string,
    private readonly transfers?: Quota,
  ) {}

  /**
   * Acquires quota for bytes that have arrived. Returns the error if they exceed it; after {@link free} it acquires
   * nothing.
   */
  add(bytes: number): GatewayError | undefined {
    const error = this.isArriving ? this.all.acquire(this.accountId, bytes) : undefined;
    if (this.isArriving && error === undefined) this.bytes += bytes;
    return error;
  }

  /** The file has arrived: its real size counts now, and the account may send another file. */
  filled(path: string, bytes: number): SpooledFile {
    this.arrived();
    this.all.release(this.accountId, this.bytes - bytes);
    this.bytes = bytes;
    return new SpooledFile(path, bytes, this);
  }

  /** As {@link filled}, for several files that arrived together. */
  filledAll(files: readonly FileOnDisk[]): SpooledFiles {
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.arrived();
    this.all.release(this.accountId, this.bytes - bytes);
    this.bytes = bytes;
    return new SpooledFiles(files, this);
  }

  /** Releases the bytes, because the file does not exist (any more). A second call changes nothing. */
  free(): void {
    this.arrived();
    this.all.release(this.accountId, this.bytes);
    this.bytes = 0;
  }

  private arrived(): void {
    if (this.isArriving) this.transfers?.release(this.accountId, 1);
    this.isArriving = false;
  }
}

/** A complete file on disk. Its owner has to remove it. */
export class SpooledFile {
  constructor(
    readonly path: string,
    readonly sizeBytes: number,
    private readonly reservation: SpoolReservation,
  ) {}

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    this.reservation.free();
  }
}

/** A file and its size. */
export interface FileOnDisk {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Complete files on disk that arrived together. Their owner has to remove them. */
export class SpooledFiles {
  constructor(
    readonly files: readonly FileOnDisk[],
    private readonly reservation: SpoolReservation,
  ) {}

  async remove(): Promise<void> {
    await Promise.all(this.files.map(({ path }) => rm(path, { force: true })));
    this.reservation.free();
  }
}
