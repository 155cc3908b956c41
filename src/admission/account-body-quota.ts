import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AvailableFunds } from '../billing/accounts/available-funds.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { apiFamilyOf } from '../catalog/operations.js';
import { API_FAMILY_CODES } from '../common/errors/api-family.js';
import { idempotencyKeyOf } from './idempotency-key.guard.js';
import { amountsOf, balanceAdvice, topUpFields } from './insufficient-funds.error.js';
import { CallKeys } from './kept/call-keys.js';
import {
  BodyQuota,
  type BodyKind,
  type BodyMeter,
} from '../platform/http-server/request-body/body-quota.js';
import { JSON_BODY_BYTES } from '../platform/http-server/request-body/json-body.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Metrics } from '../platform/observability/metrics.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body, whose bytes are counted as memory in use. */
    countedBody?: CountedBody;
  }
}

/** Largest body that an account without funds may send (decision G-101). */
const UNPAID_BODY_BYTES = 1_048_576;
/** The memory is divided into this many equal parts. One account may use one part. */
const ACCOUNT_PARTS = 2;
/** Bucket of the bodies that operators send. */
const OPERATOR = 'operator';
/** Bucket of the bodies of those who are not known yet: who sign in to the console. */
const NOBODY = 'nobody';

/**
 * Accepts bodies within `BODY_MEMORY_MAX_BYTES`, half of it for the keys of one account; beyond that 429 or 503. Accounts without funds
 * may send only small bodies and no forms; otherwise 402 (decisions G-100, G-101).
 */
@Injectable()
export class AccountBodyQuota extends BodyQuota {
  private readonly memory: Quota;

  constructor(
    private readonly funds: AvailableFunds,
    private readonly keys: CallKeys,
    @Inject(GATEWAY_CONFIG) { bodyMemoryMaxBytes: total }: GatewayConfig,
    metrics: Metrics,
  ) {
    super();
    const perBucket = total / ACCOUNT_PARTS;
    this.memory = new Quota({ total, perBucket, what: 'request bodies under way' });
    metrics.watch(
      'gateway_body_memory_bytes',
      'Bytes of request bodies in memory',
      () => this.memory.inUse,
    );
  }

  async open(request: Request, response: Response, kind: BodyKind): Promise<BodyMeter> {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const declared = Number(length ?? 0);
    const isLarge = needsFunds(request, kind) || declared > UNPAID_BODY_BYTES;
    const unpaidError =
      isLarge || encoding !== undefined ? await this.unpaidError(request) : undefined;
    if (unpaidError && isLarge) throw unpaidError;
    // The file of a form is written to disk, where the spool counts it.
    if (kind === 'form') return { add: () => undefined };
    const bucket = bucketOf(request);
    // The declared length of a text form may include a file; such a form is rejected later. Its text fields have at
    // most this many bytes.
    const wanted = kind === 'json' ? declared : Math.min(declared, JSON_BODY_BYTES);
    const error = this.memory.check(bucket, wanted);
    if (error) throw error;
    const body = new CountedBody(this.memory, bucket, unpaidError);
    request.countedBody = body;
    response.on('close', () => {
      body.release();
    });
    return body;
  }

  /** The error for a body that is too large for an account without funds; undefined for an account with funds. */
  private async unpaidError(request: Request): Promise<GatewayError | undefined> {
    const { caller, path } = request;
    if (caller === undefined || (await this.funds.has(caller.accountId))) return undefined;
    if (await this.mayBeReplay(request, caller.accountId)) return undefined;
    const { insufficient } = API_FAMILY_CODES[apiFamilyOf(path)];
    return new GatewayError(
      insufficient,
      'Nothing is available for this request: 0 micro-USD, and it costs at least 1. ' +
        balanceAdvice(caller.topUpUrl),
      {
        fields: {
          ...amountsOf({ neededMicroUsd: 1n, availableMicroUsd: 0n }),
          ...topUpFields(caller),
        },
      },
    );
  }

  /** Whether the request has an idempotency key that was used for a call: its replay costs nothing (decision G-86). */
  private async mayBeReplay({ headers, route }: Request, accountId: string): Promise<boolean> {
    const key = idempotencyKeyOf(headers);
    if (key === undefined) return false;
    const { path: endpoint } = route as { readonly path: string };
    return this.keys.isKnown({ accountId, endpoint, key });
  }
}

function bucketOf({ caller, operator }: Request): string {
  return caller?.accountId ?? (operator === undefined ? NOBODY : OPERATOR);
}

/**
 * Whether an account needs funds for the form. A form of texts may be the replay of a task, which costs nothing
 * (decision G-86).
 */
function needsFunds({ headers }: Request, kind: BodyKind): boolean {
  return kind === 'form' || (kind === 'text-form' && headers['idempotency-key'] === undefined);
}

/**
 * The bytes of one body. They count until the response has closed and no running call retains them: a call may continue
 * after its client has disconnected, and its parsed body stays in memory.
 */
export class CountedBody implements BodyMeter {
  private bytes = 0;
  /** Number of users of the bytes: the open response, and each call that has called {@link retain}. */
  private users = 1;

  constructor(
    private readonly memory: Quota,
    private readonly bucket: string,
    /** The error for a body that is too large for an account without funds. */
    private readonly unpaidError: GatewayError | undefined,
  ) {}

  add(more: number): GatewayError | undefined {
    if (this.unpaidError && this.bytes + more > UNPAID_BODY_BYTES) return this.unpaidError;
    if (this.users === 0) return undefined;
    const error = this.memory.acquire(this.bucket, more);
    if (error === undefined) this.bytes += more;
    return error;
  }

  /**
   * Counts the bytes until {@link release}, even after the response has closed. If it closed before this call, the
   * bytes were released and are acquired again; throws the quota's error if they do not fit. Call {@link release} in
   * any case.
   */
  retain(): void {
    const error = this.users === 0 ? this.memory.acquire(this.bucket, this.bytes) : undefined;
    this.users += 1;
    if (error === undefined) return;
    this.bytes = 0;
    throw error;
  }

  release(): void {
    this.users -= 1;
    if (this.users === 0) this.memory.release(this.bucket, this.bytes);
  }
}
