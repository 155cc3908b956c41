import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A settled or released hold cannot be changed by anyone but the owner of the table. */
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
