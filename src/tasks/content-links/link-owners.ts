import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { fromPublicId } from '../../common/ids/public-id.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { taskNotFound } from '../reads/tasks.service.js';

const FIND = `
  SELECT a.id, a.disabled FROM task t JOIN account a ON a.id = t.account_id WHERE t.id = $1`;

/** The account of the task that a link names. */
interface LinkOwner {
  readonly accountId: string;
  readonly isDisabled: boolean;
}

/** Finds the account of the task that a link names. */
@Injectable()
export class LinkOwners {
  private readonly statement: PreparedStatement<{ id: string; disabled: boolean }>;

  constructor(dataSource: DataSource) {
    this.statement = new PreparedStatement(dataSource, 'content_link_owner', FIND);
  }

  /** Throws 404 `task_not_found` if the task does not exist any more. */
  async of(publicId: string): Promise<LinkOwner> {
    const uuid = fromPublicId('task', publicId);
    const [row] = uuid === undefined ? [] : await this.statement.run([uuid]);
    if (row === undefined) throw taskNotFound();
    return { accountId: row.id, isDisabled: row.disabled };
  }
}
