import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../../common/paging/page.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { FailedAttemptLimiter } from '../../platform/http-server/client-limits/failed-attempt-limiter.js';
import { operatorActorsOf } from '../operators/operator-actors.js';
import {
  type ConsoleSession,
  hashSecret,
  holderName,
  IDLE_MS,
  makeSecret,
  SECRET_FORM,
  SESSION_MS,
  type SessionHolder,
  sessionOf,
  type SessionRow,
} from './console-session.js';

/** Most sessions of one holder. */
const SESSIONS_PER_HOLDER = 50;
/** The use of a session is written at most once in this time. */
const SEEN_EVERY_MS = 60_000;
/** Most unknown secrets per address and minute. Further ones are refused without a database query. */
const UNKNOWN_SECRETS_PER_MINUTE = 600;
/** Most sessions that this process remembers, so that they are looked up whoever guesses from the same address. */
const REMEMBERED_SESSIONS = 10_000;

const FIELDS = `id, actor, role, person, account_id, api_key_id, address, created_at, last_seen_at, expires_at, proved_at, issuer, subject`;
/** $1: now; $2: what was last used before it has ended; $3: the actors of the present settings. */
const IS_LIVE = `expires_at > $1 AND last_seen_at > $2 AND (actor IS NULL OR actor = ANY ($3))`;
const FIND = `SELECT ${FIELDS} FROM console_session WHERE secret_hash = $4 AND ${IS_LIVE}`;
const LIVE_OF = `SELECT id FROM console_session WHERE id = ANY ($4::uuid[]) AND ${IS_LIVE}`;
const LIST = `
  SELECT ${FIELDS} FROM console_session
   WHERE ($4::uuid IS NULL OR id < $4) AND ${IS_LIVE} ORDER BY id DESC LIMIT $5`;
const OPEN = `
  WITH ended AS (
    DELETE FROM console_session WHERE id IN (
      SELECT id FROM console_session WHERE holder = $3 ORDER BY id DESC OFFSET ${SESSIONS_PER_HOLDER - 1}))
  INSERT INTO console_session (id, secret_hash, holder, actor, role, person, account_id, api_key_id, address,
                               created_at, last_seen_at, expires_at, proved_at, issuer, subject)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14) RETURNING ${FIELDS}`;
const SEEN = 'UPDATE console_session SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2';
const PROVE = `UPDATE console_session SET proved_at = $2 WHERE id = $1 RETURNING ${FIELDS}`;
const END = 'DELETE FROM console_session WHERE id = $1';
const END_BY_HASH = 'DELETE FROM console_session WHERE secret_hash = $1';

/** What `query` answers to a statement that changes rows and returns some. */
type Changed<Row> = [rows: Row[], count: number];

/** A session that was just opened, and the secret that its cookie holds. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: ConsoleSession;
}

/**
 * The sessions of the console, in the database, so that every process knows them and one that was ended is ended everywhere
 * at once. A session ends 12 hours after it was opened, after an hour without use, when it is signed out, and, of an operator,
 * when `ADMIN_TOKEN` changes.
 */
@Injectable()
export class ConsoleSessions {
  private readonly actors: readonly string[];
  private readonly guesses: FailedAttemptLimiter;
  /** The hashes of secrets that were live, in hex. */
  private readonly remembered = new LRUCache<string, true>(entriesLimit(REMEMBERED_SESSIONS));

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) config: GatewayConfig,
  ) {
    this.guesses = new FailedAttemptLimiter(UNKNOWN_SECRETS_PER_MINUTE, clock);
    this.actors = Object.values(operatorActorsOf(config)).filter((actor) => actor !== undefined);
  }

  /** Opens a session with a new secret; beyond 50 of one holder the oldest ends. `provedAt`: when an operator proved who it is; absent: now. */
  async open(
    holder: SessionHolder,
    address: string | null,
    provedAt?: Date | null,
  ): Promise<OpenedSession> {
    const nowMs = this.clock.nowMs();
    const secret = makeSecret();
    const isOperator = holder.kind === 'operator';
    const [row] = await this.dataSource.query<[SessionRow]>(OPEN, [
      uuidV7(nowMs),
      hashSecret(secret),
      holderName(holder),
      isOperator ? holder.actor : null,
      isOperator ? holder.role : null,
      isOperator ? holder.person : null,
      isOperator ? null : holder.accountId,
      isOperator ? null : holder.apiKeyId,
      address,
      new Date(nowMs),
      new Date(nowMs + SESSION_MS),
      provedAt === undefined && isOperator ? new Date(nowMs) : provedAt,
      isOperator ? holder.identity?.issuer : null,
      isOperator ? holder.identity?.subject : null,
    ]);
    return { secret, session: sessionOf(row) };
  }

  /**
   * The live session of a secret that an address sent; undefined for every other text. Notes that it is used, unless the page
   * asks by itself (`isPoll`). Throws 429 `rate_limit_exceeded` for an address that sent too many unknown ones.
   */
  async use(
    secret: string,
    address: string | undefined,
    isPoll = false,
  ): Promise<ConsoleSession | undefined> {
    if (!SECRET_FORM.test(secret)) return undefined;
    const hash = hashSecret(secret);
    this.checkGuesses(hash, address);
    const rows = await this.dataSource.query<SessionRow[]>(FIND, [...this.live(), hash]);
    const session = rows[0] && sessionOf(rows[0]);
    this.remember(hash, session !== undefined, address);
    if (session !== undefined && !isPoll) await this.noteUse(session);
    return session;
  }

  /** Live sessions, newest first. Throws 400 for an invalid cursor. */
  async list(query: PageRequest): Promise<Page<ConsoleSession>> {
    const terms = [...this.live(), cursorOf(query, 'uuid'), query.limit + 1];
    const rows = await this.dataSource.query<SessionRow[]>(LIST, terms);
    return pageOf(rows, query.limit, sessionOf, ({ id }) => id);
  }

  /** Those of the ids that are of live sessions. */
  async liveOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ id: string }[]>(LIVE_OF, [...this.live(), ids]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Notes that the operator has proved who it is. Undefined where the session has ended meanwhile. */
  async prove(id: string): Promise<ConsoleSession | undefined> {
    const now = new Date(this.clock.nowMs());
    const [[row]] = await this.dataSource.query<Changed<SessionRow>>(PROVE, [id, now]);
    return row && sessionOf(row);
  }

  /** Ends a session. False if there was none. */
  async end(id: string): Promise<boolean> {
    const [, ended] = await this.dataSource.query<Changed<unknown>>(END, [id]);
    return ended > 0;
  }

  /** Ends the session of a secret that an address sent, if there is one. Throws as {@link use} does. */
  async endBySecret(secret: string, address: string | undefined): Promise<void> {
    if (!SECRET_FORM.test(secret)) return;
    const hash = hashSecret(secret);
    this.checkGuesses(hash, address);
    if (!(await this.endByHash(hash))) this.remember(hash, false, address);
  }

  /** Ends the session whose secret has this hash. False if there was none. */
  async endByHash(hash: Buffer): Promise<boolean> {
    const [, ended] = await this.dataSource.query<Changed<unknown>>(END_BY_HASH, [hash]);
    return ended > 0;
  }

  private checkGuesses(hash: Buffer, address: string | undefined): void {
    if (this.remembered.has(hash.toString('hex'))) return;
    const waitMs = this.guesses.waitMs(address);
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    const message = `Your address has sent too many unknown sessions. Try again in ${retryAfterSeconds} s.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds });
  }

  private remember(hash: Buffer, isLive: boolean, address: string | undefined): void {
    const name = hash.toString('hex');
    if (isLive) this.remembered.set(name, true);
    else if (!this.remembered.delete(name)) this.guesses.failed(address);
  }

  private live(): [Date, Date, readonly string[]] {
    const nowMs = this.clock.nowMs();
    return [new Date(nowMs), new Date(nowMs - IDLE_MS), this.actors];
  }

  /** An update, so a session that is ended meanwhile stays ended. */
  private async noteUse({ id, lastSeenAt }: ConsoleSession): Promise<void> {
    const nowMs = this.clock.nowMs();
    if (nowMs - lastSeenAt.getTime() < SEEN_EVERY_MS) return;
    await this.dataSource.query(SEEN, [id, new Date(nowMs)]);
  }
}
