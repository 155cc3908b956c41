import type { StreamableFile } from '@nestjs/common';
import { csvOfPages, type CsvHead, setCsvHead } from '../../common/csv.js';
import type { Page } from '../../common/paging/page.js';
import { NEXT_CURSOR_HEADER, type PageView, viewPage } from '../../common/paging/page.view.js';
import type { SendPages } from '../../platform/http-server/responses/csv-streams.js';
import type { LedgerEntry } from '../ledger-entry.js';
import type { EntryQuery } from '../ledger-requests.js';
import type { LedgerService } from '../ledger/ledger.service.js';

/** How a reader sees entries. */
export interface EntryFace<View> {
  readonly view: (entry: LedgerEntry) => View;
  readonly csv: (entries: readonly LedgerEntry[]) => string;
  /** Of the CSV. */
  readonly fileName: string;
}

/** Which entries are asked for, and how they are answered. */
interface EntryScope {
  readonly accountId: string | undefined;
  readonly format: 'json' | 'csv';
  /** Sends all entries as CSV instead of a page of them. */
  readonly sendAll?: SendPages | undefined;
}

/**
 * A page of the entries of an account, newest first, or of all accounts, one after the other; JSON or CSV, as `format` asks. For CSV
 * it sets the content type, the file's name and the header with the next cursor, or streams the page and all that follow. Throws
 * 400 `invalid_request`, and what `sendAll` throws.
 */
export async function answerEntries<View>(
  ledger: LedgerService,
  { accountId, format, sendAll }: EntryScope,
  query: EntryQuery,
  face: EntryFace<View>,
  head: CsvHead,
): Promise<PageView<View> | string | StreamableFile> {
  const page = await ledger.entries(accountId, query);
  if (format === 'json') return viewPage(page, face.view);
  const next = (cursor: string) => ledger.entries(accountId, { ...query, cursor });
  const whole = sendAll?.(csvOfPages(entriesFrom(page, next), face.csv));
  setCsvHead(head, face.fileName);
  if (whole !== undefined) return whole;
  if (page.nextCursor !== null) head.setHeader(NEXT_CURSOR_HEADER, page.nextCursor);
  return face.csv(page.items);
}

/** The entries of the page, and of those that follow it. */
async function* entriesFrom(
  first: Page<LedgerEntry>,
  next: (cursor: string) => Promise<Page<LedgerEntry>>,
): AsyncGenerator<readonly LedgerEntry[]> {
  yield first.items;
  for (let { nextCursor } = first; nextCursor !== null;) {
    const page = await next(nextCursor);
    yield page.items;
    ({ nextCursor } = page);
  }
}
