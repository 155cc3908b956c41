import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** A name may be given to another person, so sessions and the record of actions keep the identity beside it. */
export class OperatorIdentities1700000001240 implements SchemaMigration {
  readonly name = 'OperatorIdentities1700000001240';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['operator_action', 'console_session']) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN issuer text, ADD COLUMN subject text`);
      await runner.query(`COMMENT ON COLUMN ${table}.issuer IS '${ISSUER}'`);
      await runner.query(`COMMENT ON COLUMN ${table}.subject IS '${SUBJECT}'`);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Identities of operators would be lost: restore a backup'));
  }
}

const ISSUER = 'The identity provider that let the operator in; null: a token or a key did.';
const SUBJECT = 'Who the operator is there, which stays when the name changes.';
