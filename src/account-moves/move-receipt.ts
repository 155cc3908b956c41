import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { cellIn } from './cell-id.js';

/** What the cell that imports decides of a move. */
export type MoveOutcome = 'imported' | 'refused';

const OUTCOMES: readonly MoveOutcome[] = ['imported', 'refused'];
const KEY_BYTES = 32;
const RECEIPT_DIGITS = 32;

/** A new key of receipts, which the file carries to the other cell: 64 hexadecimal digits. */
export const newReceiptKey = (): string => randomBytes(KEY_BYTES).toString('hex');

/** What a receipt is made of: the key of the move, and the id of the cell that the account left. */
interface MoveSecret {
  readonly receiptKey: string;
  readonly from: string;
}

/** The text by which the other cell learns of the outcome, such as `imported-` and 32 hexadecimal digits. */
export function receiptOf({ receiptKey, from }: MoveSecret, outcome: MoveOutcome): string {
  const { databaseId = '' } = cellIn(from) ?? {};
  const text = `${receiptKey} ${databaseId} ${outcome}`;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${outcome}-${digest.slice(0, RECEIPT_DIGITS)}`;
}

/** The outcome that a receipt of the move tells; undefined for any other text. */
export function outcomeOf(secret: MoveSecret, receipt: string): MoveOutcome | undefined {
  return OUTCOMES.find((outcome) => isSame(receiptOf(secret, outcome), receipt));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
