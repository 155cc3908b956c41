import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds a task by the name that its caller gave the request, as for calls (decision G-97). */
export class TasksOfClientRequests1700000000121 implements MigrationInterface {
  readonly name = 'TasksOfClientRequests1700000000121';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX task_of_client_request ON task (account_id, client_request_id, id)
        WHERE client_request_id IS NOT NULL;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX task_of_client_request');
  }
}
