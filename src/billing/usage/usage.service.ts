import { Injectable } from '@nestjs/common';
import { type CsvHead, setCsvHead } from '../../common/csv.js';
import { NEXT_CURSOR_HEADER, viewPage } from '../../common/paging/page.view.js';
import { Clock } from '../../common/time/clock.js';
import { type UsageQuery, usageRequestOf } from './dto/usage.query.js';
import { UsageReports, type UsageRow } from './usage-reports.js';
import { csvOfUsage, type UsagePage, viewUsage } from './usage.view.js';

/** Usage, for key holders, operators and the command line. */
@Injectable()
export class UsageService {
  constructor(
    private readonly reports: UsageReports,
    private readonly clock: Clock,
  ) {}

  /**
   * A page of usage as JSON or CSV, as `format` requests. For CSV it sets the content type, the file's name and the header with
   * the next cursor. Throws 400 `invalid_request`.
   */
  async respond(
    query: UsageQuery,
    { accountId, isOperator = false }: UsageScope,
    head: CsvHead,
  ): Promise<UsagePage | string> {
    const request = usageRequestOf(query, accountId, this.clock.nowMs());
    const { limit, offset, groupBy, fromDay, toDay, lastDay } = request;
    const rows = await this.reports.rows({ ...request, limit: limit + 1 });
    const nextCursor = rows.length > limit ? (offset + limit).toString() : null;
    const items = rows.slice(0, limit);
    const view = (row: UsageRow) => viewUsage(row, isOperator);
    const page = viewPage({ items, nextCursor }, view);
    if (query.format === 'json') return { ...page, from: fromDay, to: toDay, last_day: lastDay };
    setCsvHead(head, `usage-${fromDay}-to-${lastDay}.csv`);
    if (nextCursor !== null) head.setHeader(NEXT_CURSOR_HEADER, nextCursor);
    return csvOfUsage(page, groupBy, isOperator);
  }
}

/** Whose usage it is: of one account, or of all; operators see the names of accounts. */
export interface UsageScope {
  readonly accountId: string | undefined;
  readonly isOperator?: boolean;
}
