import { resolve } from 'node:path';
import { exportAccount } from '../account-moves/account-export.js';
import { importAccount, refuseAccount } from '../account-moves/account-import.js';
import { endExport } from '../account-moves/account-leave.js';
import { readCell } from '../account-moves/move-session.js';
import { viewCell, viewExport, viewImport, viewLeave } from '../account-moves/account-move.view.js';
import { SystemClock } from '../common/time/clock.js';
import { pathId } from '../common/ids/id-params.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { withDatabaseNamed } from './database-unavailable.js';
import type { OperatorReply, Options } from './operator-request.js';
import { given, misused } from './parse-options.js';

/** Who runs a command, and until when. */
interface Run {
  readonly actor: string;
  readonly signal: AbortSignal;
}

/** Tells the id of the cell, which an export elsewhere names. */
export async function tellCell(config: GatewayConfig): Promise<OperatorReply> {
  return { answer: viewCell(await withDatabaseNamed(config, () => readCell(config))) };
}

/** Exports an account, or ends its export by a receipt. Throws 400 for options that do not belong together. */
export async function moveOut(
  config: GatewayConfig,
  account: string,
  options: Options,
  { actor, signal }: Run,
): Promise<OperatorReply> {
  const accountId = pathId('acct', account);
  const [cell, to, receipt] = ['cell', 'to', 'receipt'].map((name) => given(options, name));
  if (receipt !== undefined) {
    if (cell !== undefined || to !== undefined || options['without-content'] === true) {
      throw misused('Use --receipt alone: it ends the move that --cell and --to began.');
    }
    const left = await withDatabaseNamed(config, () => endExport(config, accountId, receipt));
    return { answer: viewLeave(left) };
  }
  if (cell === undefined || to === undefined) {
    throw misused(
      'Name the other cell and the file: --cell ID --to FILE. Or end the move: --receipt RECEIPT.',
    );
  }
  const withoutContent = options['without-content'] === true;
  const request = { accountId, cell, file: resolve(to), actor, withoutContent };
  const made = await withDatabaseNamed(config, () =>
    exportAccount(config, request, { clock: new SystemClock(), signal }),
  );
  return {
    answer: viewExport(made),
    notes: [
      `The account is closed here until the cell ${cell} has decided. There: account:import FILE. Then here: account:export ${account} --receipt RECEIPT.`,
      'Not in the file: stored files, stored responses, kept answers, webhook endpoints with their secrets, and the log of deliveries. Make the endpoints anew there.',
    ],
  };
}

/** Imports the account of a file, or decides that it never is. */
export async function moveIn(
  config: GatewayConfig,
  file: string,
  options: Options,
  { actor, signal }: Run,
): Promise<OperatorReply> {
  const work = options.refuse === true ? refuseAccount : importAccount;
  const request = { file: resolve(file), actor };
  const report = await withDatabaseNamed(config, () => work(config, request, { signal }));
  const account = viewImport(report).account_id;
  return {
    answer: viewImport(report),
    notes: [
      `In the former cell: account:export ${account} --receipt ${report.receipt}`,
      ...(report.outcome === 'imported'
        ? [`Then here: account:update ${account} --disabled false, and key:create ${account}.`]
        : []),
    ],
  };
}
