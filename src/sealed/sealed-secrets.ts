import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SecretBox, SecretBoxError } from '../common/secrets/secret-box.js';
import { ConfigError } from '../platform/config/load-config.js';
import { maintenanceConnectionOf } from '../platform/database/data-source.js';
import { StoredContent } from '../stored-responses/stored-content.js';
import { TaskInputs } from '../tasks/submission/task-inputs.js';
import { WebhookSecrets } from '../webhooks/webhook-secrets.js';
import { isOfOtherKey, type SealedColumn, sealedColumns } from './sealed-columns.js';

const CHECK_CONTEXT = 'sealing-key/check';
const CHECK_TEXT = 'shim';
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/**
 * Replaces a dropped secret: work that needs it fails with `secret_unreadable`, and nothing is sent without a
 * signature.
 */
const FORGOTTEN = 'forgotten';

interface SealedRow {
  readonly account_id: string;
  readonly id: string;
  readonly owner: string;
  readonly sealed: string;
}

/** The result of resealing, as numbers of sealed texts. */
interface Resealing {
  readonly sealedAnew: number;
  /**
   * Texts that are afterwards still sealed by other keys than the first: by a process with another list, or by no key
   * of the list.
   */
  readonly left: number;
  /** The part of them that no key of the list opens. */
  readonly unreadable: number;
}

/**
 * What is sealed in the database, and by which keys: the inputs of open tasks, the secrets of webhooks, and stored conversations.
 * A start must not go on with a list of keys that opens less than the one before.
 */
@Injectable()
export class SealedSecrets {
  private readonly columns: readonly SealedColumn[];

  constructor(
    private readonly dataSource: DataSource,
    private readonly box: SecretBox,
    inputs: TaskInputs,
    secrets: WebhookSecrets,
    content: StoredContent,
  ) {
    this.columns = sealedColumns(inputs, secrets, content, box);
  }

  /**
   * Records the ids of the keys in the list. Reads all sealed texts only if a recorded key is missing from the list,
   * and at the first time. Throws ConfigError if no key of the list opens some of them.
   */
  async check(): Promise<void> {
    const noted = await this.noted();
    const lost = noted.filter(({ check_value: value }) => !this.opens(value));
    if (noted.length === 0 || lost.length > 0) {
      const count = await this.countOfOthers(this.box.keyIds);
      if (count > 0) throw new ConfigError([unopened(count)]);
      await this.dataSource.query('DELETE FROM sealing_key WHERE key_id = ANY ($1)', [
        lost.map(({ key_id: id }) => id),
      ]);
    }
    await this.note();
  }

  /** Reseals with the first key every text that any key of the list opens. */
  async rotate(): Promise<Resealing> {
    // Until the first start has read all sealed texts, it is not known whether a key is missing.
    if ((await this.noted()).length > 0) await this.note();
    const patient = await maintenanceConnectionOf(this.dataSource).initialize();
    try {
      let sealedAnew = 0;
      for (const column of this.columns) sealedAnew += await this.resealColumn(patient, column);
      const left = await this.countOfOthers(this.box.keyIds.slice(0, 1));
      return { sealedAnew, left, unreadable: await this.unreadable() };
    } finally {
      await patient.destroy();
    }
  }

  /** The number of sealed texts that no key of the list opens. */
  unreadable(): Promise<number> {
    return this.countOfOthers(this.box.keyIds);
  }

  /** Drops the texts that no key of the list opens. Returns their number. */
  async forget(): Promise<number> {
    const patient = await maintenanceConnectionOf(this.dataSource).initialize();
    try {
      let dropped = 0;
      for (const { table, column } of this.columns) {
        const [, count] = await patient.query<[unknown, number]>(
          `UPDATE ${table} SET ${column} = '${FORGOTTEN}' WHERE ${isOfOtherKey(column)}`,
          [this.box.keyIds],
        );
        dropped += count;
      }
      return dropped;
    } finally {
      await patient.destroy();
    }
  }

  /** Texts that were sealed by other keys than these. */
  private async countOfOthers(keyIds: readonly string[]): Promise<number> {
    const patient = await maintenanceConnectionOf(this.dataSource).initialize();
    try {
      const counts = this.columns.map(
        ({ table, column }) => `(SELECT count(*) FROM ${table} WHERE ${isOfOtherKey(column)})`,
      );
      const [row] = await patient.query<{ count: string }[]>(
        `SELECT ${counts.join(' + ')} AS count`,
        [keyIds],
      );
      return Number(row?.count ?? 0);
    } finally {
      await patient.destroy();
    }
  }

  private noted(): Promise<{ key_id: string; check_value: string }[]> {
    return this.dataSource.query('SELECT key_id, check_value FROM sealing_key');
  }

  /** A process records a key before it seals with it. */
  private async note(): Promise<void> {
    for (const [index, id] of this.box.keyIds.entries()) {
      const value = this.box.seal(CHECK_TEXT, CHECK_CONTEXT, index);
      await this.dataSource.query(
        'INSERT INTO sealing_key (key_id, check_value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
        [id, value],
      );
    }
  }

  private opens(checkValue: string): boolean {
    try {
      return this.box.open(checkValue, CHECK_CONTEXT) === CHECK_TEXT;
    } catch {
      return false;
    }
  }

  /** A text that is changed or deleted meanwhile is left unchanged. */
  private async resealColumn(
    db: DataSource,
    { table, column, owner, reseal, batch }: SealedColumn,
  ) {
    const select = `
      SELECT account_id, id, ${owner} AS owner, ${column} AS sealed FROM ${table}
       WHERE ${isOfOtherKey(column)} AND (account_id, id) > ($2, $3)
       ORDER BY account_id, id LIMIT ${batch}`;
    const update = `
      UPDATE ${table} t SET ${column} = n.sealed
        FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) n (account_id, id, old, sealed)
       WHERE t.account_id = n.account_id AND t.id = n.id AND t.${column} = n.old`;
    let last = { account_id: FIRST_ID, id: FIRST_ID };
    let sealedAnew = 0;
    for (;;) {
      const rows = await db.query<SealedRow[]>(select, [
        this.box.keyIds.slice(0, 1),
        last.account_id,
        last.id,
      ]);
      const anew = rows.flatMap((row) => {
        const sealed = resealed(row, reseal);
        return sealed === undefined ? [] : [{ ...row, anew: sealed }];
      });
      const [, count] = await db.query<[unknown, number]>(update, [
        anew.map((row) => row.account_id),
        anew.map(({ id }) => id),
        anew.map(({ sealed }) => sealed),
        anew.map((row) => row.anew),
      ]);
      sealedAnew += count;
      const end = rows.at(-1);
      if (end === undefined || rows.length < batch) return sealedAnew;
      last = end;
    }
  }
}

function resealed(row: SealedRow, reseal: SealedColumn['reseal']): string | undefined {
  try {
    return reseal(row.sealed, row.owner);
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined;
    throw error;
  }
}

const unopened = (count: number): string =>
  `SECRET_KEY: ${count === 1 ? '1 secret is' : `${count} secrets are`} sealed with a key that is not in the list. ` +
  'Put that key behind the first one (SECRET_KEY=new,old), or drop what it sealed with the command secret:forget.';
