import { Injectable, type StreamableFile } from '@nestjs/common';
import { type CsvHead, csvOfPages, setCsvHead } from '../../common/csv.js';
import type { SendPages } from '../../platform/http-server/responses/csv-streams.js';
import { monthOf, type StatementFormat } from './dto/statement.query.js';
import { PAGE_POLICY, pageOfStatement } from './statement-page.js';
import { csvOfRows, pagesOfRows, rowsOf, type StatementRow } from './statement-rows.js';
import { type StatementView, viewStatement } from './statement.view.js';
import { Statements } from './statements.js';

/** Who reads a statement, and as what. Operators see the name of the account too. */
export interface StatementReader {
  readonly format: StatementFormat;
  readonly isOperator?: boolean;
  /** Sends CSV with every entry; without it a CSV has the entries that JSON lists, and a line for the rest of each kind. */
  readonly sendAll?: SendPages;
}

/** Statements as they are answered, for holders, operators and the command line. */
@Injectable()
export class StatementAnswers {
  constructor(private readonly statements: Statements) {}

  /**
   * JSON, or the text of CSV or of a page to print, for which it sets the content type. Throws 400 `invalid_request` for what is no
   * month, 404 `not_found` for an unknown account and for a month that has not begun, and what `sendAll` throws.
   */
  async answer(
    accountId: string,
    month: string,
    { format, isOperator = false, sendAll }: StatementReader,
    head: CsvHead,
  ): Promise<StatementView | string | StreamableFile> {
    const statement = await this.statements.read(accountId, monthOf(month));
    const view = viewStatement(statement, isOperator);
    if (format === 'json') return view;
    if (format === 'csv') {
      const csv = (rows: readonly StatementRow[]) => csvOfRows(statement, rows);
      const pages = pagesOfRows(statement, (part) => this.statements.unlisted(statement, part));
      const whole = sendAll?.(csvOfPages(pages, csv));
      setCsvHead(head, `statement-${view.number}.csv`);
      return whole ?? csv(rowsOf(statement));
    }
    head.type('text/html; charset=utf-8');
    head.setHeader('content-security-policy', PAGE_POLICY);
    return pageOfStatement(statement, isOperator);
  }
}
