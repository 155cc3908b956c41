import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { canonicalJson, type JsonObject } from '../common/json-object.js';
import type { SongStep } from '../providers/ports/song.port.js';
import type { Task } from '../tasks/task.js';

/** The newest steps of an account that are kept. */
const MAX_PER_ACCOUNT = 100;

const FIND = `
  SELECT memory FROM kept_song_step
   WHERE account_id = $1 AND upstream = $2 AND digest = $3 AND created_at > now() - interval '1 day'`;
const KEEP = `
  INSERT INTO kept_song_step (account_id, upstream, digest, memory) VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id, upstream, digest) DO UPDATE SET memory = excluded.memory, created_at = now()`;
const FORGET_OLDER = `
  DELETE FROM kept_song_step k USING (
    SELECT upstream, digest FROM kept_song_step WHERE account_id = $1 ORDER BY created_at DESC OFFSET ${MAX_PER_ACCOUNT}) old
   WHERE k.account_id = $1 AND k.upstream = old.upstream AND k.digest = old.digest`;

/**
 * Results of paid steps before song operations. Each is used for 24 hours for the same step of the same account at the
 * same upstream, because a caller pays nothing when the operation after it is rejected and could repeat that at will.
 * Without the database the step is repeated, which only costs more, so nothing here throws. `RecordRetention` deletes
 * old rows.
 */
@Injectable()
export class KeptSongSteps {
  private readonly logger = new Logger('Songs');

  constructor(private readonly dataSource: DataSource) {}

  /** The result of the step when the account last paid for it; undefined if that is not known. */
  async find(task: Task, step: SongStep): Promise<JsonObject | undefined> {
    const rows = this.dataSource.query<{ memory: JsonObject }[]>(FIND, keyOf(task, step));
    const [row] = await rows.catch((error: unknown) => this.failed(error));
    return row?.memory;
  }

  async keep(task: Task, step: SongStep, stepState: JsonObject): Promise<void> {
    try {
      await this.dataSource.query(KEEP, [...keyOf(task, step), JSON.stringify(stepState)]);
      await this.dataSource.query(FORGET_OLDER, [task.accountId]);
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): [] {
    this.logger.warn(`steps of songs are not kept: ${String(error)}`);
    return [];
  }
}

function keyOf({ accountId, provider, providerBaseUrl }: Task, step: SongStep): string[] {
  const digest = createHash('sha256').update(canonicalJson(step)).digest('hex');
  return [accountId, `${provider} ${providerBaseUrl}`, digest];
}
