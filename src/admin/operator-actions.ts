import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorOf, type Page, pageOf, type PageRequest } from '../common/paging/page.js';
import { Clock } from '../common/time/clock.js';
import { redactText } from '../observability/logger.js';

const MAX_TARGET_CHARACTERS = 100;
/** Ids contain none of these characters, and the database refuses a zero byte. */
const INVISIBLE = /[^\x21-\x7e]/g;
const INSERT =
  'INSERT INTO operator_action (actor, action, target, address, at) VALUES ($1, $2, $3, $4, $5)';
const LIST = `
  SELECT id, actor, action, target, address, at FROM operator_action
   WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`;

/** Who requested which change. `target` is the id of the resource, `address` the source of the request. */
interface NewOperatorAction {
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly address: string | null;
}

/** A recorded action; ids grow with time. */
export interface OperatorAction extends NewOperatorAction {
  readonly id: string;
  readonly at: Date;
}

/** The record of the changes that operators requested, through the API and on the command line. Rows are only added. */
@Injectable()
export class OperatorActions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * Records an action; await it before the action. Throws if it cannot be recorded; then the action must not be done.
   */
  async record({ actor, action, target, address }: NewOperatorAction): Promise<void> {
    const shown = target === null ? null : shownTarget(target);
    const at = new Date(this.clock.nowMs());
    await this.dataSource.query(INSERT, [actor, action, shown, address, at]);
  }

  /** Actions, newest first. */
  async list(page: PageRequest): Promise<Page<OperatorAction>> {
    const parameters = [cursorOf(page, 'position'), page.limit + 1];
    const rows = await this.dataSource.query<OperatorAction[]>(LIST, parameters);
    return pageOf(
      rows,
      page.limit,
      (row) => row,
      (row) => row.id,
    );
  }
}

/** An operator may send a key instead of its id by mistake, and no key may be in the record. */
function shownTarget(target: string): string {
  return redactText(target).slice(0, MAX_TARGET_CHARACTERS).replace(INVISIBLE, '?');
}
