import { createReadStream } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { transaction } from '../../platform/database/transaction.js';
import {
  CREATE_BILLED,
  CREATE_KNOWN,
  DIFFERING,
  FILL_BILLED,
  FILL_KNOWN,
  INDEX_BILLED,
  type KnownRow,
  MAX_SHOWN,
  SUM_BILLED,
  SUMS,
  type SumsRow,
  UNKNOWN_TO_THEM,
  UNKNOWN_TO_US,
} from './reconciliation-statements.js';
import { type BadLine, type BillLine, billLinesOf } from './vendor-bill-lines.js';

/** Lines that are written at once. */
const BATCH_LINES = 5_000;

/** What of our records is compared: those of one provider that began in a time; without one, those that the bill spans. */
interface ReconciliationRequest {
  readonly provider: string;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** A vendor's bill beside our records. Lists have at most {@link MAX_SHOWN} entries; counts and sums are of all. */
export interface Reconciliation {
  readonly lines: number;
  readonly badLines: { readonly count: number; readonly shown: readonly BadLine[] };
  readonly sums: SumsRow;
  readonly unknownToUs: readonly KnownRow[];
  readonly unknownToThem: readonly KnownRow[];
  readonly differing: readonly KnownRow[];
}

/** Compares what a vendor bills with the costs of our records. */
@Injectable()
export class VendorReconciliation {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Reads the file, which may be larger than memory, and compares. Nothing is kept. Throws 400 for a file that cannot be read.
   */
  async compare(file: string, request: ReconciliationRequest): Promise<Reconciliation> {
    const maintenance = await maintenanceConnectionOf(this.dataSource).initialize();
    try {
      return await transaction(
        maintenance,
        (manager) => compareIn(manager, file, request),
        'REPEATABLE READ',
      );
    } finally {
      await maintenance.destroy();
    }
  }
}

async function compareIn(
  manager: EntityManager,
  file: string,
  { provider, from, to }: ReconciliationRequest,
): Promise<Reconciliation> {
  await manager.query(CREATE_BILLED);
  const { lines, badLines } = await fill(manager, file);
  await manager.query(SUM_BILLED);
  await manager.query(INDEX_BILLED);
  await manager.query(CREATE_KNOWN);
  await manager.query(FILL_KNOWN, [provider, from ?? null, to ?? null]);
  const period = [from ?? null, to ?? null];
  const [sums] = await manager.query<SumsRow[]>(SUMS, period);
  if (sums === undefined) throw new Error('the sums have a row');
  return {
    lines,
    badLines,
    sums,
    unknownToUs: await manager.query<KnownRow[]>(UNKNOWN_TO_US),
    unknownToThem: await manager.query<KnownRow[]>(UNKNOWN_TO_THEM, period),
    differing: await manager.query<KnownRow[]>(DIFFERING),
  };
}

/** Writes the lines into the table, one batch after the other. */
async function fill(
  manager: EntityManager,
  file: string,
): Promise<Pick<Reconciliation, 'lines' | 'badLines'>> {
  const shown: BadLine[] = [];
  let bad = 0;
  let lines = 0;
  let batch: BillLine[] = [];
  const write = async () => {
    await manager.query(FILL_BILLED, [
      batch.map(({ line }) => line),
      batch.map(({ requestId }) => requestId),
      batch.map(({ amount }) => amount),
    ]);
    batch = [];
  };
  // Whoever reads it gets its error.
  const stream = createReadStream(file).on('error', () => undefined);
  try {
    for await (const read of billLinesOf(stream)) {
      lines += 1;
      if ('says' in read) {
        bad += 1;
        if (bad <= MAX_SHOWN) shown.push(read);
        continue;
      }
      batch.push(read);
      if (batch.length === BATCH_LINES) await write();
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const message = `${file} cannot be read by the gateway (${code ?? 'unknown'}).`;
    throw new GatewayError('invalid_request', message, { cause: error });
  } finally {
    stream.destroy();
  }
  if (batch.length > 0) await write();
  return { lines, badLines: { count: bad, shown } };
}
