import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { ChargeBasis } from '../../src/common/money/charge-basis.js';
import type { ExecutionStart } from '../../src/billing/calls/execution-commands.js';

const NONE = (count: number): string => Array<string>(count).fill(`'{}'`).join(', ');

/** Holds for the call by the function of versions before the records told of figures. */
export async function formerBegin(dataSource: DataSource, start: ExecutionStart): Promise<void> {
  const { accountId, executionId, amountMicroUsd, apiKeyId, model, endpoint } = start;
  await dataSource.query(
    `SELECT * FROM execution_step(ARRAY[$1::uuid], $2, true, ${NONE(14)}, '{1}', ARRAY[$3::uuid], ARRAY[$4::bigint],
       ARRAY[$5::uuid], ARRAY[$6], ARRAY[$7], '{NULL}')`,
    [accountId, randomUUID(), executionId, amountMicroUsd, apiKeyId, model, endpoint],
  );
}

/** Ends the call by the same function: with the charge, or without one as failed. */
export async function formerEnd(
  dataSource: DataSource,
  { accountId, executionId }: ExecutionStart,
  chargedMicroUsd: bigint | null,
  basis: ChargeBasis | null = null,
): Promise<void> {
  const error = chargedMicroUsd === null ? 'provider_timeout' : null;
  await dataSource.query(
    `SELECT * FROM execution_step(ARRAY[$1::uuid], $2, true, '{1}', ARRAY[$3::uuid], ARRAY[$4::bigint], ARRAY[$5],
       '{sandbox}', '{eleven_v3}', '{req_1}', ARRAY[$6], ARRAY[$7::jsonb], ARRAY[$8::jsonb], '{f}', '{5}', '{9}',
       '{NULL}', ${NONE(7)})`,
    [
      accountId,
      randomUUID(),
      executionId,
      chargedMicroUsd,
      error,
      basis?.unit ?? null,
      basis && JSON.stringify(basis.quantity),
      basis && JSON.stringify(basis.unitPrice),
    ],
  );
}
