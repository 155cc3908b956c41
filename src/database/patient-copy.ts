import { DataSource, type DataSourceOptions } from 'typeorm';

type PostgresDataSourceOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

const STATEMENT_TIMEOUT_MS = 3_600_000;

/** The same database over one connection without the time limits of normal work. For migrations and audits. */
export function patientCopyOf(dataSource: DataSource): DataSource {
  const options = dataSource.options as PostgresDataSourceOptions;
  const extra = {
    ...(options.extra as object),
    stream: undefined,
    lock_timeout: STATEMENT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  };
  return new DataSource({ ...options, poolSize: 1, extra });
}
