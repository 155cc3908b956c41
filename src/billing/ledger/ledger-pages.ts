import { type CsvHead, setCsvHead } from '../../common/csv.js';
import { NEXT_CURSOR_HEADER, type PageView, viewPage } from '../../common/paging/page.view.js';
import type { LedgerEntry } from '../ledger-entry.js';
import type { EntryQuery } from '../ledger-requests.js';
import type { LedgerService } from './ledger.service.js';

/** How a reader sees entries. */
export interface EntryFace<View> {
  readonly view: (entry: LedgerEntry) => View;
  readonly csv: (entries: readonly LedgerEntry[]) => string;
  /** Of the CSV. */
  readonly fileName: string;
}

/**
 * A page of the entries of an account, newest first, or of all accounts, one after the other; JSON or CSV, as `format` asks. For CSV
 * it sets the content type, the file's name and the header with the next cursor. Throws 400 `invalid_request`.
 */
export async function answerEntries<View>(
  ledger: LedgerService,
  scope: { readonly accountId: string | undefined; readonly format: 'json' | 'csv' },
  query: EntryQuery,
  face: EntryFace<View>,
  head: CsvHead,
): Promise<PageView<View> | string> {
  const page = await ledger.entries(scope.accountId, query);
  if (scope.format === 'json') return viewPage(page, face.view);
  setCsvHead(head, face.fileName);
  if (page.nextCursor !== null) head.setHeader(NEXT_CURSOR_HEADER, page.nextCursor);
  return face.csv(page.items);
}
