import { Injectable } from '@nestjs/common';
import { type CsvHead, setCsvHead } from '../../common/csv.js';
import { NEXT_CURSOR_HEADER, type PageView, viewPage } from '../../common/paging/page.view.js';
import { Clock } from '../../common/time/clock.js';
import { type MarginQuery, type UsageQuery, usageRequestOf } from './dto/usage.query.js';
import { csvOfMargins, type MarginPage, type MarginView, viewMargin } from './margin.view.js';
import { UsageReports, type UsageRow } from './usage-reports.js';
import type { UsageDimension } from './usage-request.js';
import { viewAdminUsage } from './admin-usage.view.js';
import { csvOfUsage } from './usage-csv.js';
import { type CoveredDays, type UsagePage, type UsageView, viewUsage } from './usage.view.js';

/** Of `2026-01-31` in `2026-01-31T14:00:00Z`: a file's name has no colon. */
const DATE_LENGTH = 10;

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
  respond(
    query: UsageQuery,
    { accountId, isOperator = false }: UsageScope,
    head: CsvHead,
  ): Promise<UsagePage | string> {
    return this.answer<UsageView>(query, accountId, head, {
      name: 'usage',
      view: isOperator ? viewAdminUsage : viewUsage,
      csv: (page, groupBy) => csvOfUsage(page, groupBy, isOperator),
    });
  }

  /** What was sold, cost and left, as {@link respond}; of one account or of all. */
  respondMargins(
    query: MarginQuery,
    accountId: string | undefined,
    head: CsvHead,
  ): Promise<MarginPage | string> {
    return this.answer<MarginView>(query, accountId, head, {
      name: 'margin',
      view: viewMargin,
      csv: csvOfMargins,
    });
  }

  private async answer<View>(
    query: UsageQuery,
    accountId: string | undefined,
    head: CsvHead,
    form: AnswerForm<View>,
  ): Promise<(PageView<View> & CoveredDays) | string> {
    const request = usageRequestOf(query, accountId, this.clock.nowMs());
    const { limit, offset, groupBy, from, to, lastDay } = request;
    const rows = await this.reports.rows({ ...request, limit: limit + 1 });
    const nextCursor = rows.length > limit ? (offset + limit).toString() : null;
    const page = viewPage({ items: rows.slice(0, limit), nextCursor }, form.view);
    if (query.format === 'json') return { ...page, from, to, last_day: lastDay };
    setCsvHead(head, `${form.name}-${from.slice(0, DATE_LENGTH)}-to-${lastDay}.csv`);
    if (nextCursor !== null) head.setHeader(NEXT_CURSOR_HEADER, nextCursor);
    return form.csv(page, groupBy);
  }
}

/** How rows become an answer. */
interface AnswerForm<View> {
  /** Begins the name of the CSV file. */
  readonly name: string;
  readonly view: (row: UsageRow) => View;
  readonly csv: (page: PageView<View>, groupBy: readonly UsageDimension[]) => string;
}

/** Whose usage it is: of one account, or of all; operators see the names of accounts, costs and margins. */
export interface UsageScope {
  readonly accountId: string | undefined;
  readonly isOperator?: boolean;
}
