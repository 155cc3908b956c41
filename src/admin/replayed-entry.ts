import type { LedgerEntry } from '../billing/ledger-entry.js';
import { REPLAYED_HEADER } from '../platform/http-server/responses/answer-copy.js';
import { type LedgerEntryView, viewEntry } from './views/ledger-entry.view.js';

/** In the document: the header of an entry that was not made now. */
export const REPLAY_HEADERS = {
  [REPLAYED_HEADER]: {
    description:
      '`true` where a request with this Idempotency-Key had made the entry before; no money moved now',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

/** The entry, and the header where it was not made now. */
export function answerEntry(
  entry: LedgerEntry,
  response: { setHeader(name: string, value: string): unknown },
): LedgerEntryView {
  if (entry.isReplay === true) response.setHeader(REPLAYED_HEADER, 'true');
  return viewEntry(entry);
}
