import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import type { Caller } from '../caller.js';
import { callerOf, type CallerRow, FIND_CALLER_BY_ID } from '../caller-row.js';
import type { ConsoleSession } from './console-session.js';

const FIND_ACCOUNT = 'SELECT play_money, disabled, price_book FROM account WHERE id = $1';

interface AccountRow {
  readonly play_money: boolean;
  readonly disabled: boolean;
  readonly price_book: string | null;
}

/**
 * The caller of a customer's session. It is looked up anew for each request, so what becomes of the key holds at once: its
 * revocation, its end, its scopes, limits and models.
 */
@Injectable()
export class SessionCallers {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Undefined for an operator, and where the key is no longer good or the account is gone. */
  async of({ id, holder }: ConsoleSession): Promise<Caller | undefined> {
    if (holder.kind === 'operator') return undefined;
    const { apiKeyId, accountId } = holder;
    return apiKeyId === null ? this.reader(id, accountId) : this.keyHolder(id, apiKeyId);
  }

  private async keyHolder(sessionId: string, apiKeyId: string): Promise<Caller | undefined> {
    const [row] = await this.dataSource.query<CallerRow[]>(FIND_CALLER_BY_ID, [apiKeyId]);
    if (row === undefined) return undefined;
    const caller = callerOf(row);
    const isOver = caller.expiresAtMs !== null && caller.expiresAtMs <= this.clock.nowMs();
    // It is told of no change of the key, so its hold asks the database for the limits of the key.
    return isOver ? undefined : { ...caller, sessionId, isStale: true };
  }

  private async reader(sessionId: string, accountId: string): Promise<Caller | undefined> {
    const [row] = await this.dataSource.query<AccountRow[]>(FIND_ACCOUNT, [accountId]);
    if (row === undefined) return undefined;
    return {
      apiKeyId: sessionId,
      sessionId,
      isWithoutKey: true,
      accountId,
      allowedModels: null,
      requestsPerMinute: null,
      expiresAtMs: null,
      scopes: ['read'],
      ...(row.play_money && { hasPlayMoney: true }),
      ...(row.disabled && { isDisabled: true }),
      ...(row.price_book !== null && { priceBook: row.price_book }),
    };
  }
}
