import { DataSource, type DataSourceOptions } from 'typeorm';
import { SESSION_SETTINGS } from './session-settings.js';

type PostgresDataSourceOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/**
 * The same database over one connection without the time limits of normal work. For migrations and audits, whose transactions
 * begin with {@link SESSION_SETTINGS.patience}, because a pooler passes no settings on.
 */
export function maintenanceConnectionOf(dataSource: DataSource): DataSource {
  const options = dataSource.options as PostgresDataSourceOptions;
  const { options: asked, ...common } = options.extra as { readonly options?: string };
  const extra = {
    ...common,
    ...(asked !== undefined && SESSION_SETTINGS.patientStartUp),
    stream: undefined,
  };
  return new DataSource({ ...options, poolSize: 1, extra });
}
