import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { cursorOf, type Page, type PageRequest } from '../../common/paging/page.js';
import { HIGHEST_POSITION, pageOfScan } from '../../platform/database/keyset-pagination.js';
import { type Run, runOf, type RunRow } from './run.js';

/** Finds and lists runs. The statements that begin and end calls write them. */
@Injectable()
export class RunsService {
  constructor(private readonly dataSource: DataSource) {}

  /** The runs of an account, newest first. Throws 400 invalid_request for an invalid cursor. */
  list(accountId: string, page: PageRequest): Promise<Page<Run>> {
    const scan = {
      table: 'run',
      filter: {},
      comparisons: [],
      lead: [['account_id', accountId]],
      by: 'position',
      newest: cursorOf(page, 'position') ?? HIGHEST_POSITION,
      oldest: '0',
      guard: 'position > 0',
    } as const;
    return pageOfScan(this.dataSource, scan, page.limit, runOf);
  }

  /** Throws 404 `run_not_found` for an unknown run, and one of another account. */
  async get(accountId: string, id: string): Promise<Run> {
    const [row] = await this.dataSource.query<RunRow[]>(
      'SELECT * FROM run WHERE account_id = $1 AND id = $2',
      [accountId, id],
    );
    if (row) return runOf(row);
    throw new GatewayError('run_not_found', 'No such run.', { param: 'id' });
  }
}
