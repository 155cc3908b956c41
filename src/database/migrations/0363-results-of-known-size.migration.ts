import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Results are stored uncompressed from now on, so that their size is known without reading them: a page of tasks ends by it.
 * Of an older result the compressed size is known.
 */
export class ResultsOfKnownSize1700000000363 implements MigrationInterface {
  readonly name = 'ResultsOfKnownSize1700000000363';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE task ALTER result SET STORAGE EXTERNAL, ALTER found SET STORAGE EXTERNAL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE task ALTER result SET STORAGE EXTENDED, ALTER found SET STORAGE EXTENDED',
    );
  }
}
