import { Injectable } from '@nestjs/common';
import { viewPage, type PageView } from '../common/paging/page.view.js';
import { Clock } from '../common/time/clock.js';
import { type UsageQuery, usageRequestOf } from './dto/usage.query.js';
import { UsageReports } from './usage-reports.js';
import { csvOfUsage, type UsageView, viewUsage } from './usage.view.js';

/** What was used, as key holders, operators and the command line ask for it. */
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

  /** {@link page}, or its CSV with the type to send it under, as `format` asks. */
  async answer(query: UsageQuery, accountId: string | undefined, head: AnswerHead) {
    const page = await this.page(query, accountId);
    if (query.format === 'json') return page;
    head.type('text/csv');
    const { groupBy } = usageRequestOf(query, accountId, this.clock.nowMs());
    return csvOfUsage(page, groupBy);
  }
}

/** Where the content type of an answer is set. */
interface AnswerHead {
  type(name: string): unknown;
}
