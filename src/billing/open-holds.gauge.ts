import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics, type OpenHolds } from '../observability/metrics.js';

const OPEN_HOLDS = `
  SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age
    FROM hold WHERE state = 'open'`;

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
