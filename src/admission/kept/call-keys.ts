import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { canonicalJson } from '../../common/json-object.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { Quota } from '../../platform/fairness/quota.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { retryTransient } from '../../platform/database/retry-transient.js';
import { inTurn } from './turns.js';

/** A claim that was not renewed for this long says nothing any more: what counts then is its execution. */
const LEASE_MS = 30_000;
const RENEWAL_MS = 10_000;
/** Retries of a statement while the database cannot be reached end after this time. */
const PATIENCE_MS = 2_000;
/** A request that waits for one of the same process looks at the database this often. */
const LOOK_MS = 10_000;

/** Requests of a process that wait for the first one with their key. */
const WAITING = { total: 5_000, perBucket: 1_000, what: 'requests that wait for an earlier one' };

const CLAIM = 'SELECT * FROM call_key_claim($1, $2, $3, $4, $5, $6, $7, $8)';
const IS_OWN = 'account_id = $1 AND endpoint = $2 AND key = $3 AND execution_id = $4';
const RENEW = `
  UPDATE call_key SET lease_until = clock_timestamp() + $5 * interval '1 millisecond' WHERE ${IS_OWN}`;
const FINISH = `
  UPDATE call_key SET lease_until = clock_timestamp(), expires_at = clock_timestamp() + interval '1 day'
   WHERE ${IS_OWN}`;
const RELEASE = `DELETE FROM call_key WHERE ${IS_OWN}`;
const IS_KNOWN = `SELECT FROM call_key k JOIN execution e ON e.account_id = k.account_id AND e.id = k.execution_id
    WHERE k.account_id = $1 AND k.endpoint = $2 AND k.key = $3 AND k.expires_at > now()
      AND e.status IN ('running', 'succeeded')`;

/** A request with an idempotency key, which belongs to an account and an endpoint. */
export interface CallKeyUse {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly endpoint: string;
  readonly key: string;
  /** UUID of the execution that will be charged. */
  readonly executionId: string;
  /** The parsed body. */
  readonly body: unknown;
  /** Whether the client still waits. */
  readonly isGone: () => boolean;
}

/** What a key leads to. `bound`: this execution was charged for it. */
export type CallKeyOutcome =
  | { readonly outcome: 'claimed'; readonly claim: CallKeyClaim }
  | { readonly outcome: 'bound'; readonly executionId: string }
  | { readonly outcome: 'conflict' };

interface ClaimRow {
  readonly outcome: CallKeyOutcome['outcome'] | 'busy';
  readonly execution: string | null;
}

/**
 * Grants the right to make the call of an idempotency key (decisions G-48, G-86). Of each key the database knows one execution,
 * which is named before anything is held. So the states of a key are those of its execution, and the statement that charges the
 * call binds the key:
 *
 * | Execution | Lease of the request | A request with the same body |
 * | - | - | - |
 * | none | live | waits: the first one is before its hold |
 * | none | over | cancels the execution, so that it never begins, and makes the call |
 * | running | any | waits: it ends, or is released when its process is found dead |
 * | failed | any | makes the call: the key is free |
 * | succeeded | live | waits: the answer is being kept |
 * | succeeded | over | gets the kept answer, or 409 with the execution's id where there is none |
 *
 * A settlement whose outcome is unknown is reversed; until then the key is bound, so that no second charge comes beside the first.
 */
@Injectable()
export class CallKeys {
  private readonly logger = new Logger(CallKeys.name);
  private readonly digest: KeyedDigest;
  private readonly statement: PreparedStatement<ClaimRow>;
  /** Claims of this process. Others wait for their ends in memory, with few statements. */
  private readonly underWay = new Map<string, CallKeyClaim>();
  private readonly waiting = new Quota(WAITING);

  constructor(
    private readonly dataSource: DataSource,
    @Inject(GATEWAY_CONFIG) config: Pick<GatewayConfig, 'secretKeys'>,
  ) {
    this.digest = new KeyedDigest(config.secretKeys ?? [], 'idempotency');
    this.statement = new PreparedStatement(dataSource, 'call_key_claim', CLAIM);
  }

  /**
   * What the key leads to, once no other request with it and the same body is under way. Throws 503 where that has not ended
   * within 120 s, and where the database cannot be reached.
   */
  async claim(use: CallKeyUse): Promise<CallKeyOutcome> {
    const name = JSON.stringify([use.accountId, use.endpoint, use.key]);
    const fingerprints = this.digest.of(canonicalJson(use.body));
    const values = [...columnsOf(use).slice(0, 3), fingerprints, use.executionId];
    values.push(modelOf(use.body), use.apiKeyId, LEASE_MS);
    let isWaiting = false;
    const look = async (): Promise<CallKeyOutcome | undefined> => {
      if (use.isGone()) throw new GatewayError('invalid_request', 'The client has left.');
      const row = await this.asked(use, values);
      if (row?.outcome === 'claimed') return { outcome: 'claimed', claim: this.claimOf(use, name) };
      if (row?.outcome === 'bound' && row.execution !== null)
        return { outcome: 'bound', executionId: row.execution };
      if (row?.outcome === 'conflict') return { outcome: 'conflict' };
      if (!isWaiting) this.beginToWait(use);
      isWaiting = true;
      const twin = this.underWay.get(name);
      if (twin) await Promise.race([twin.ended, sleep(LOOK_MS, undefined, { ref: false })]);
      return undefined;
    };
    return inTurn(look).finally(() => {
      if (isWaiting) this.waiting.release(use.accountId, 1);
    });
  }

  /** Throws 429 or 503 where too many requests wait already. */
  private beginToWait({ accountId }: CallKeyUse): void {
    const refusal = this.waiting.acquire(accountId, 1);
    if (refusal) throw refusal;
  }

  /** Whether a call with the key was charged within the last day, or may be. */
  async isKnown(use: Pick<CallKeyUse, 'accountId' | 'endpoint' | 'key'>): Promise<boolean> {
    const values = [use.accountId, use.endpoint, use.key];
    return (await this.dataSource.query<unknown[]>(IS_KNOWN, values)).length > 0;
  }

  /** A try whose response was lost may have been committed; the next one finds its own execution. */
  private async asked(use: CallKeyUse, values: unknown[]): Promise<ClaimRow | undefined> {
    try {
      const [row] = await retryTransient(() => this.statement.run(values), PATIENCE_MS);
      return row;
    } catch (error) {
      await this.dataSource.query(RELEASE, columnsOf(use)).catch(() => undefined);
      throw error;
    }
  }

  private claimOf(use: CallKeyUse, name: string): CallKeyClaim {
    const columns = columnsOf(use);
    const run = async (statement: string, values: unknown[] = []): Promise<void> => {
      await this.dataSource.query(statement, [...columns, ...values]);
    };
    const claim = new CallKeyClaim({
      renew: () => run(RENEW, [LEASE_MS]),
      finish: () => run(FINISH),
      release: () => run(RELEASE),
      onEnd: () => {
        if (this.underWay.get(name) === claim) this.underWay.delete(name);
      },
      onLost: (error) => {
        this.logger.warn(`A claim of an idempotency key waits for its lease: ${error.message}`);
      },
    });
    this.underWay.set(name, claim);
    return claim;
  }
}

/** What a claim does in the database. */
interface ClaimStatements {
  readonly renew: () => Promise<void>;
  readonly finish: () => Promise<void>;
  readonly release: () => Promise<void>;
  readonly onEnd: () => void;
  readonly onLost: (error: Error) => void;
}

/** The exclusive right to make the call of an idempotency key. Its lease is renewed until it ends. */
export class CallKeyClaim {
  /** Resolves at the end. */
  readonly ended: Promise<void>;
  private resolve: () => void = () => undefined;
  private hasEnded = false;
  private readonly timer: NodeJS.Timeout;
  private renewal: Promise<void> | undefined;

  constructor(private readonly statements: ClaimStatements) {
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.timer = setInterval(() => {
      // The next renewal may succeed. If none does, the execution decides.
      this.renewal = this.statements.renew().catch(() => undefined);
    }, RENEWAL_MS).unref();
  }

  /** The execution, which may have been charged, says from now on what the key leads to. Never rejects. */
  finish(): Promise<void> {
    return this.end(this.statements.finish);
  }

  /** Frees the key: this process will never charge the execution. Never rejects. */
  release(): Promise<void> {
    return this.end(this.statements.release);
  }

  /** Whether the execution was charged is not known: the lease runs on, and requests wait until it is over. Never rejects. */
  leave(): Promise<void> {
    return this.end(() => Promise.resolve());
  }

  private async end(write: () => Promise<void>): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearInterval(this.timer);
    // A renewal that came later would make the others wait for the lease.
    await this.renewal;
    // What was not written is decided by the lease.
    await write().catch(this.statements.onLost);
    this.statements.onEnd();
    this.resolve();
  }
}

function columnsOf({ accountId, endpoint, key, executionId }: CallKeyUse): unknown[] {
  return [accountId, endpoint, key, executionId];
}

/** The model that a body names. It is not checked yet. */
function modelOf(body: unknown): string {
  const { model } = (body ?? {}) as { readonly model?: unknown };
  return typeof model === 'string' ? model.replaceAll('\0', '').slice(0, 200) : '';
}
