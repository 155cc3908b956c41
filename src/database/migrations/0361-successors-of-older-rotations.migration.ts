import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keys that were in their overlap when 0360 came name their successors too, as far as the record of operator actions tells.
 * Rotations before 0354 have no outcome there: the record says which key was rotated, but not which key that made.
 */
export class SuccessorsOfOlderRotations1700000000361 implements MigrationInterface {
  readonly name = 'SuccessorsOfOlderRotations1700000000361';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BACKFILL);
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** The UUID of a public id; null for other text, such as an id that was sent wrongly. */
const keyOf = (column: string) =>
  `CASE WHEN ${column} ~ '^key_[0-9a-f]{32}$' THEN substr(${column}, 5)::uuid END`;

/**
 * Operators give expiries in whole seconds, so a fraction of a second is the end of an overlap. Of two successors the second
 * took that end over as its own expiry, so the one that lives longest is named.
 */
const BACKFILL = `
  UPDATE api_key k SET successor_id = r.successor_id
    FROM (SELECT DISTINCT ON (rotated.id) rotated.id, made.id AS successor_id
            FROM operator_action a
            JOIN operator_outcome o ON o.action_id = a.id AND o.outcome = 'done'
            JOIN api_key rotated ON rotated.id = ${keyOf('a.target')}
            JOIN api_key made ON made.id = ${keyOf('o.made')} AND made.account_id = rotated.account_id
           WHERE a.action IN ('POST /admin/keys/:id/rotate', 'key:rotate')
             AND rotated.successor_id IS NULL AND rotated.revoked_at IS NULL AND rotated.expires_at > now()
             AND rotated.expires_at <> date_trunc('second', rotated.expires_at)
           ORDER BY rotated.id, made.expires_at DESC NULLS FIRST, a.id DESC) r
   WHERE k.id = r.id`;
