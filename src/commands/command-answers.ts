import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { viewEntry } from '../admin/views/ledger-entry.view.js';
import type { LedgerEntry } from '../billing/ledger-entry.js';
import { toPublicId } from '../common/ids/public-id.js';
import { moneyText, usdText } from '../common/money/usd-text.js';
import type { CsvHead } from '../common/csv.js';
import { NEXT_CURSOR_HEADER } from '../common/paging/page.view.js';
import type { SendPages } from '../platform/http-server/responses/csv-streams.js';
import { NotedAnswer } from './operator-command.js';
import type { TextPage } from './operator-request.js';

/** What a list answers as JSON or CSV; CSV of which more follows with its cursor. */
export async function csvPageOf<Answer>(
  answerTo: (head: CsvHead) => Promise<Answer>,
): Promise<Answer | TextPage> {
  const headers = new Map<string, string>();
  const answer = await answerTo({
    type: () => undefined,
    setHeader: (name, value) => headers.set(name, value),
  });
  const cursor = headers.get(NEXT_CURSOR_HEADER);
  if (typeof answer !== 'string' || cursor === undefined) return answer;
  return { text: answer, next_cursor: cursor };
}

/** Whole lists as CSV: the text is read and printed in pieces (src/commands/run-command.ts). */
export const inPieces: SendPages = (pages) =>
  // Who reads the pieces gets the error too.
  new StreamableFile(Readable.from(pages).on('error', () => undefined));

/** An entry that a command made, and in words what it did: the amount in USD, the account, and whether it had been made before. */
export function notedEntry(entry: LedgerEntry): NotedAnswer {
  return new NotedAnswer(viewEntry(entry), [entryText(entry)], entry.isReplay);
}

function entryText(entry: LedgerEntry): string {
  const { amountMicroUsd: amount, accountId, accountName, balanceAfterMicroUsd } = entry;
  const id = toPublicId('acct', accountId);
  const account = `account ${id}${accountName === undefined ? '' : ` (${accountName})`}`;
  const moved = amount < 0n ? `took ${moneyText(-amount)} from` : `gave ${moneyText(amount)} to`;
  const balance = `balance after it ${usdText(balanceAfterMicroUsd)} USD`;
  if (entry.isReplay !== true) return `The command ${moved} ${account}; ${balance}.`;
  const madeAt = entry.createdAt.toISOString();
  return `Nothing was done now: a command with this idempotency key ${moved} ${account} at ${madeAt}; ${balance}.`;
}
