import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics, type OpenHolds } from '../observability/metrics.js';

const OPEN_HOLDS = `
  SELECT coalesce(sum(open_calls), 0)::int AS count,
         coalesce(extract(epoch FROM now() - min(oldest_open_at) FILTER (WHERE open_calls > 0)), 0)::float8 AS age
    FROM gateway_process`;

/** Publishes how many holds wait for their end and for how long. */
@Injectable()
export class OpenHoldsGauge {
  constructor(metrics: Metrics, dataSource: DataSource) {
    metrics.watchHolds(async (): Promise<OpenHolds> => {
      const [row] = await dataSource.query<{ count: number; age: number }[]>(OPEN_HOLDS);
      return { count: row?.count ?? 0, oldestAgeSeconds: row?.age ?? 0 };
    });
  }
}
