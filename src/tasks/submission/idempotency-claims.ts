import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { canonicalJson } from '../../common/canonical-json.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { retryTransient } from '../retry-transient.js';

/** Another process may take a claim over when it was not renewed for this long. */
const CLAIM_LEASE_MS = 30_000;
/** Whoever asks for a claim waits this long for a database that cannot be reached. */
const PATIENCE_MS = 2_000;
/** How often a claim is renewed. */
const RENEWAL_MS = 10_000;
/** Claims without a task are deleted this long after their lease. */
const SWEEP_AFTER_MS = 3_600_000;
const SWEEP_MS = 60_000;
const SWEEP_BATCH = 1_000;

/** One key of an account on an endpoint. */
export interface KeyName {
  readonly accountId: string;
  readonly endpoint: string;
  readonly key: string;
}

/** A key with the body that it is used for. */
export interface KeyUse extends KeyName {
  /** Digests of the checked body by every secret key. */
  readonly fingerprints: readonly Buffer[];
  /** Digest of the body as it was sent, by the newest secret key. */
  readonly sentFingerprint: Buffer | null;
}

/** The right to submit with a key. */
export interface KeyClaim extends KeyUse {
  readonly token: string;
}

/** The answer to a request for a claim. */
export type ClaimOutcome =
  | { readonly outcome: 'claimed'; readonly claim: KeyClaim }
  | { readonly outcome: 'bound'; readonly taskId: string }
  | { readonly outcome: 'busy' | 'conflict' };

interface OutcomeRow {
  readonly outcome: ClaimOutcome['outcome'];
  readonly task: string | null;
}

/**
 * Decides who may submit with an idempotency key. A claim is a committed row with a lease, so that nobody waits while
 * holding a connection (decision G-86).
 */
@Injectable()
export class IdempotencyClaims implements OnApplicationBootstrap {
  private readonly digest: KeyedDigest;
  private readonly asking: PreparedStatement<OutcomeRow>;
  private readonly knowing: PreparedStatement<{ task: string }>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG) config: Pick<GatewayConfig, 'secretKeys'>,
  ) {
    this.digest = new KeyedDigest(config.secretKeys ?? [], 'idempotency');
    this.asking = new PreparedStatement(
      dataSource,
      'idempotency_claim_sent',
      `SELECT * FROM idempotency_claim_sent($1, $2, $3, $4, $5, $6, $7)`,
    );
    this.knowing = new PreparedStatement(
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

  /** Digests of a parsed body, that of the newest key first. They cover secrets in the body and do not reveal them. */
  fingerprintsOf(body: object): Buffer[] {
    return this.digest.of(canonicalJson(body));
  }

  /**
   * Asks for the claim. Where the answer is lost it asks again with the same token, which owns a claim that was committed
   * unseen; where that fails too, it frees the key. Only if even this is lost, the claim ends with its lease.
   */
  async claim(use: KeyUse): Promise<ClaimOutcome> {
    const token = randomUUID();
    const { accountId, endpoint, key, fingerprints, sentFingerprint } = use;
    const claim = [fingerprints, token, CLAIM_LEASE_MS, sentFingerprint];
    const asked = [accountId, endpoint, key, ...claim];
    const ask = () => this.asking.run(asked);
    const [row] = await retryTransient(ask, PATIENCE_MS).catch(async (error: unknown) => {
      await this.release({ ...use, token }).catch(() => undefined);
      throw error;
    });
    if (row?.outcome === 'claimed') return { outcome: 'claimed', claim: { ...use, token } };
    if (row?.outcome === 'bound' && row.task !== null) {
      return { outcome: 'bound', taskId: row.task };
    }
    return { outcome: row?.outcome === 'conflict' ? 'conflict' : 'busy' };
  }

  /** The id of the task that was accepted with the key and this very body; undefined where there is none, or another body. */
  async replayed({ accountId, endpoint, key }: KeyName, sent: object): Promise<string | undefined> {
    const asked = [accountId, endpoint, key, this.fingerprintsOf(sent)];
    const [row] = await retryTransient(() => this.knowing.run(asked), PATIENCE_MS);
    return row?.task;
  }

  /** Renews the claim while `work` runs, and frees the key if the work throws. */
  async during<T>(claim: KeyClaim, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      // After a failed renewal the next one may succeed. A lost lease is noticed in the submission.
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

  /** Deletes claims without a task; returns how many. */
  async sweep(): Promise<number> {
    const [row] = await this.dataSource.query<{ swept: string }[]>(
      `WITH swept AS (
         DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM idempotency_key
            WHERE task_id IS NULL AND lease_until < now() - $1 * interval '1 millisecond'
            ORDER BY lease_until LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED))
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
