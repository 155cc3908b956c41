import type { MigrationInterface } from 'typeorm';

/** One change of the schema. */
export interface SchemaMigration extends MigrationInterface {
  readonly name: string;
  /** The oldest version of the gateway whose processes may run, and start, on the schema after it, such as `0.1.0`. */
  readonly oldestVersion: string;
}
