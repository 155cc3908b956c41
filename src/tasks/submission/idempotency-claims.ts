import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { canonicalJson } from '../../common/json-object.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { retryTransient } from '../../platform/database/retry-transient.js';

/** A claim that was not renewed for this long can be taken over by another process. */
const CLAIM_LEASE_MS = 30_000;
/** Retries of a claim while the database cannot be reached end after this time. */
const PATIENCE_MS = 2_000;
/** How often a claim is renewed. */
const RENEWAL_MS = 10_000;
/** Claims without a task are deleted this long after their lease. */
const SWEEP_AFTER_MS = 3_600_000;
const SWEEP_MS = 60_000;
const SWEEP_BATCH = 1_000;

/** An idempotency key, which belongs to an account and an endpoint. */
export interface KeyName {
  readonly accountId: string;
  readonly endpoint: string;
  readonly key: string;
}

/** An idempotency key with the fingerprints of its body. */
export interface KeyUse extends KeyName {
  /** Digests of the validated body, one per secret key. */
  readonly fingerprints: readonly Buffer[];
  /** Digest of the body as sent, by the newest secret key. */
  readonly sentFingerprint: Buffer | null;
}

/** The exclusive right to submit with an idempotency key. */
export interface KeyClaim extends KeyUse {
  readonly token: string;
}

/** The result of a request for a claim. */
export type ClaimOutcome =
  | { readonly outcome: 'claimed'; readonly claim: KeyClaim }
  | { readonly outcome: 'bound'; readonly taskId: string }
  | { readonly outcome: 'busy' | 'conflict' };

interface OutcomeRow {
  readonly outcome: ClaimOutcome['outcome'];
  readonly task: string | null;
}

/**
 * Grants the right to submit with an idempotency key. A claim is a committed row with a lease, so that no request holds a
 * database connection while it waits (decision G-86).
 */
@Injectable()
export class IdempotencyClaims implements OnApplicationBootstrap {
  private readonly digest: KeyedDigest;
  private readonly claimStatement: PreparedStatement<OutcomeRow>;
  private readonly replayStatement: PreparedStatement<{ task: string }>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG) config: Pick<GatewayConfig, 'secretKeys'>,
  ) {
    this.digest = new KeyedDigest(config.secretKeys ?? [], 'idempotency');
    this.claimStatement = new PreparedStatement(
      dataSource,
      'idempotency_claim_sent',
      `SELECT * FROM idempotency_claim_sent($1, $2, $3, $4, $5, $6, $7)`,
    );
    this.replayStatement = new PreparedStatement(
      dataSource,
      'idempotency_replayed',
      `SELECT task_id AS task FROM idempotency_key
        WHERE account_id = $1 AND endpoint = $2 AND key = $3 AND task_id IS NOT NULL
          AND coalesce(sent_fingerprint, fingerprint) = ANY ($4)`,
    );
  }

  onApplicationBootstrap(): void {
    const tick = () => this.sweep();
    this.scheduler.start({ name: 'idempotency-claims', intervalMs: SWEEP_MS, tick });
  }

  /** Digests of a parsed body, that of the newest secret key first. They include secrets of the body but do not reveal them. */
  fingerprintsOf(body: object): Buffer[] {
    return this.digest.of(canonicalJson(body));
  }

  /**
   * Requests the claim. If the response is lost, retries with the same token, which owns a claim that was committed by the lost
   * try. If that fails too, deletes the claim. If the deletion fails as well, the claim expires with its lease.
   */
  async claim(use: KeyUse): Promise<ClaimOutcome> {
    const token = randomUUID();
    const { accountId, endpoint, key, fingerprints, sentFingerprint } = use;
    const claim = [fingerprints, token, CLAIM_LEASE_MS, sentFingerprint];
    const parameters = [accountId, endpoint, key, ...claim];
    const run = () => this.claimStatement.run(parameters);
    const [row] = await retryTransient(run, PATIENCE_MS).catch(async (error: unknown) => {
      await this.release({ ...use, token }).catch(() => undefined);
      throw error;
    });
    if (row?.outcome === 'claimed') return { outcome: 'claimed', claim: { ...use, token } };
    if (row?.outcome === 'bound' && row.task !== null) {
      return { outcome: 'bound', taskId: row.task };
    }
    return { outcome: row?.outcome === 'conflict' ? 'conflict' : 'busy' };
  }

  /** The id of the task that was accepted with the same key and body; undefined if there is none. */
  async replayed({ accountId, endpoint, key }: KeyName, sent: object): Promise<string | undefined> {
    const parameters = [accountId, endpoint, key, this.fingerprintsOf(sent)];
    const [row] = await retryTransient(() => this.replayStatement.run(parameters), PATIENCE_MS);
    return row?.task;
  }

  /** Renews the claim while `work` runs, and deletes it if the work throws. */
  async during<T>(claim: KeyClaim, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      // The next renewal may succeed. The submission notices a lost lease.
      this.renew(claim).catch(() => undefined);
    }, RENEWAL_MS).unref();
    try {
      return await work();
    } catch (error) {
      await this.release(claim).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  /** Deletes old claims without a task; returns how many. */
  async sweep(): Promise<number> {
    const [row] = await this.dataSource.query<{ swept: string }[]>(
      `WITH stale AS (
         SELECT account_id, endpoint, key FROM idempotency_key
          WHERE task_id IS NULL AND lease_until < now() - $1 * interval '1 millisecond'
          ORDER BY lease_until LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED
       ), swept AS (
         DELETE FROM idempotency_key k USING stale s
          WHERE k.account_id = s.account_id AND k.endpoint = s.endpoint AND k.key = s.key
         RETURNING 1)
       SELECT count(*) AS swept FROM swept`,
      [SWEEP_AFTER_MS],
    );
    return Number(row?.swept ?? 0);
  }

  private async renew(claim: KeyClaim): Promise<void> {
    await this.dataSource.query(
      `UPDATE idempotency_key SET lease_until = now() + $5 * interval '1 millisecond'
        WHERE account_id = $1 AND endpoint = $2 AND key = $3 AND token = $4`,
      [claim.accountId, claim.endpoint, claim.key, claim.token, CLAIM_LEASE_MS],
    );
  }

  private async release(claim: KeyClaim): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM idempotency_key
        WHERE account_id = $1 AND endpoint = $2 AND key = $3 AND token = $4 AND task_id IS NULL`,
      [claim.accountId, claim.endpoint, claim.key, claim.token],
    );
  }
}
