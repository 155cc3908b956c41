import { Injectable } from '@nestjs/common';
import { NEXT_CURSOR_HEADER, viewPage, type PageView } from '../../common/paging/page.view.js';
import { Clock } from '../../common/time/clock.js';
import { type UsageQuery, usageRequestOf } from './dto/usage.query.js';
import { UsageReports } from './usage-reports.js';
import { csvOfUsage, type UsageView, viewUsage } from './usage.view.js';

/** Usage, for key holders, operators and the command line. */
@Injectable()
export class UsageService {
  constructor(
    private readonly reports: UsageReports,
    private readonly clock: Clock,
  ) {}

  /** Usage of one account, or of all. Throws 400 `invalid_request`. */
  async page(query: UsageQuery, accountId: string | undefined): Promise<PageView<UsageView>> {
    const request = usageRequestOf(query, accountId, this.clock.nowMs());
    const { limit, offset } = request;
    const rows = await this.reports.rows({ ...request, limit: limit + 1 });
    const nextCursor = rows.length > limit ? (offset + limit).toString() : null;
    return viewPage({ items: rows.slice(0, limit), nextCursor }, viewUsage);
  }

  /** The page as JSON or CSV, as `format` requests. For CSV it sets the content type and the header with the next cursor. */
  async respond(query: UsageQuery, accountId: string | undefined, head: ResponseHead) {
    const page = await this.page(query, accountId);
    if (query.format === 'json') return page;
    head.type('text/csv');
    if (page.next_cursor !== null) head.setHeader(NEXT_CURSOR_HEADER, page.next_cursor);
    const { groupBy } = usageRequestOf(query, accountId, this.clock.nowMs());
    return csvOfUsage(page, groupBy);
  }
}

/** The part of the Express response that sets headers. */
interface ResponseHead {
  type(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}
