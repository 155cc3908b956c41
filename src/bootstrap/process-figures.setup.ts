import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { Reversals } from '../billing/recovery/reversals.js';
import { poolFiguresOf } from '../platform/database/data-source.js';
import { Metrics } from '../platform/observability/metrics.js';
import { Readiness } from '../platform/observability/readiness.js';

/** Publishes what several modules know of this process. Each figure is read from memory at a scrape. */
export function publishProcessFigures(app: NestExpressApplication): void {
  const metrics = app.get(Metrics);
  const readiness = app.get(Readiness);
  const calls = (): PaidCalls => app.get(PaidCalls, { strict: false });
  const owed = (): Reversals => app.get(Reversals, { strict: false });
  const pool = () => poolFiguresOf(app.get(DataSource));
  metrics.watch(
    'gateway_draining',
    '1 while the process ends once no call runs',
    () => (readiness.isDraining ? 1 : 0),
    'max',
  );
  metrics.watch(
    'gateway_calls_in_flight',
    'Synchronous paid calls between admission and end',
    () => calls().inFlight,
  );
  metrics.watch(
    'gateway_calls_waiting',
    'Those of them that wait for their hold',
    () => calls().waiting,
  );
  metrics.watch(
    'gateway_owed_releases',
    'Holds and charges of failed calls that the database has not taken back yet',
    () => owed().size,
  );
  metrics.watch(
    'gateway_database_connections_in_use',
    'Connections of the pool that run a statement',
    () => pool().inUse,
  );
  metrics.watch(
    'gateway_database_connections_waiting',
    'Statements that wait for a connection of the pool',
    () => pool().waiting,
  );
}
