import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A hold that was settled or released stays what it became, whoever asks: only the owner of the table could. */
export class ResolvedHoldsAreFinal1700000000122 implements MigrationInterface {
  readonly name = 'ResolvedHoldsAreFinal1700000000122';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION hold_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'a resolved hold is final' USING ERRCODE = 'restrict_violation';
      END $$;
      CREATE TRIGGER hold_resolved_is_final BEFORE UPDATE ON hold
        FOR EACH ROW WHEN (OLD.state <> 'open') EXECUTE FUNCTION hold_refuse_change();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER hold_resolved_is_final ON hold;
      DROP FUNCTION hold_refuse_change;`);
  }
}
