import type { DataSource } from 'typeorm';

/** Deliveries that are due and not begun. */
export interface OverdueDeliveries {
  readonly count: number;
  /** How long the oldest of them is due; 0 without one. */
  readonly ageSeconds: number;
}

const OVERDUE = `
  SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "ageSeconds"
    FROM webhook_delivery WHERE status = 'pending' AND due_at <= now()`;

/** Reads them by the index of what is due. */
export async function readOverdueDeliveries(dataSource: DataSource): Promise<OverdueDeliveries> {
  const [row] = await dataSource.query<OverdueDeliveries[]>(OVERDUE);
  return row ?? { count: 0, ageSeconds: 0 };
}
