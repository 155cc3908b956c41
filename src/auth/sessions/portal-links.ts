import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { hashSecret, makeSecret, SECRET_FORM } from './console-session.js';

/** A link is good for this long. */
const LINK_MS = 600_000;

const MAKE = 'INSERT INTO portal_link (secret_hash, account_id, expires_at) VALUES ($1, $2, $3)';
const FIND = 'SELECT account_id, expires_at FROM portal_link WHERE secret_hash = $1';
/** Of requests that use it at the same time, one deletes it. */
const TAKE = 'DELETE FROM portal_link WHERE secret_hash = $1 RETURNING account_id, expires_at';

interface LinkRow {
  readonly account_id: string;
  readonly expires_at: Date;
}

/** A link that was just made. */
export interface PortalLink {
  readonly secret: string;
  readonly expiresAt: Date;
}

/** Links with which operators let customers in: each opens a session of an account that reads only, once, within ten minutes. */
@Injectable()
export class PortalLinks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  async make(accountId: string): Promise<PortalLink> {
    const secret = makeSecret();
    const expiresAt = new Date(this.clock.nowMs() + LINK_MS);
    await this.dataSource.query(MAKE, [hashSecret(secret), accountId, expiresAt]);
    return { secret, expiresAt };
  }

  /** Uses the link up. The id of its account; undefined for one that is unknown, used or too old. */
  async take(secret: string): Promise<string | undefined> {
    if (!SECRET_FORM.test(secret)) return undefined;
    const [[row]] = await this.dataSource.query<[LinkRow[], number]>(TAKE, [hashSecret(secret)]);
    return this.accountOf(row);
  }

  /** The id of its account, without using it up; undefined as for {@link take}. */
  async find(secret: string): Promise<string | undefined> {
    if (!SECRET_FORM.test(secret)) return undefined;
    const [row] = await this.dataSource.query<LinkRow[]>(FIND, [hashSecret(secret)]);
    return this.accountOf(row);
  }

  private accountOf(row: LinkRow | undefined): string | undefined {
    return row !== undefined && row.expires_at.getTime() > this.clock.nowMs()
      ? row.account_id
      : undefined;
  }
}
