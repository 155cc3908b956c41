import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AvailableFunds } from '../billing/accounts/available-funds.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { API_FAMILY_CODES, apiFamilyOf } from '../common/errors/api-family.js';
import { BodyGate, type BodyKind, type BodyMeter } from '../common/http/bodies/body-gate.js';
import { JSON_BODY_BYTES } from '../common/http/bodies/json-body.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Metrics } from '../platform/observability/metrics.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body, which is counted as in memory. */
    countedBody?: CountedBody;
  }
}

/** Largest body that an account without funds may send (decision G-101). */
const UNPAID_BODY_BYTES = 1_048_576;
/** The memory is divided into this many equal parts. The keys of one account may use one part. */
const SHARES = 2;
/** Holder of the bodies that operators send. */
const OPERATOR = 'operator';

/**
 * Accepts bodies within `BODY_MEMORY_MAX_BYTES`, half of it for the keys of one account; beyond that 429 or 503. Accounts without funds
 * may send only small bodies and no forms; otherwise 402 (decisions G-100, G-101).
 */
@Injectable()
export class AccountBodyQuota extends BodyGate {
  private readonly memory: Quota;

  constructor(
    private readonly funds: AvailableFunds,
    @Inject(GATEWAY_CONFIG) { bodyMemoryMaxBytes: total }: GatewayConfig,
    metrics: Metrics,
  ) {
    super();
    const perHolder = total / SHARES;
    this.memory = new Quota({ total, perHolder, what: 'request bodies under way' });
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
    const unpaid = isLarge || encoding !== undefined ? await this.unpaid(request) : undefined;
    if (unpaid && isLarge) throw unpaid;
    // The file of a form is written to disk, where the spool counts it.
    if (kind === 'form') return { add: () => undefined };
    const holder = request.caller?.accountId ?? OPERATOR;
    // The declared length of a form may include a file, and then the form is refused. Its texts are at most this long.
    const wanted = kind === 'json' ? declared : Math.min(declared, JSON_BODY_BYTES);
    const refusal = this.memory.check(holder, wanted);
    if (refusal) throw refusal;
    const body = new CountedBody(this.memory, holder, unpaid);
    request.countedBody = body;
    response.on('close', () => {
      body.release();
    });
    return body;
  }

  /** The refusal of a body that is too large for an account without funds; undefined for an account with funds. */
  private async unpaid({ caller, path }: Request): Promise<GatewayError | undefined> {
    if (caller === undefined || (await this.funds.has(caller.accountId))) return undefined;
    const { insufficient } = API_FAMILY_CODES[apiFamilyOf(path)];
    return new GatewayError(insufficient, 'The balance cannot cover this request.');
  }
}

/** Whether an account needs funds for the form. One of texts may be the replay of a task, which costs nothing (decision G-86). */
function needsFunds({ headers }: Request, kind: BodyKind): boolean {
  return kind === 'form' || (kind === 'text-form' && headers['idempotency-key'] === undefined);
}

/**
 * The bytes of one body. They count until its answer has closed and no running call keeps them: a call may go on after its
 * caller has left, and its parsed body stays in memory.
 */
export class CountedBody implements BodyMeter {
  private bytes = 0;
  /** Who still needs the bytes: the open answer, and each call that has called {@link retain}. */
  private keepers = 1;

  constructor(
    private readonly memory: Quota,
    private readonly holder: string,
    /** The refusal of a body that is too large for an account without funds. */
    private readonly unpaid: GatewayError | undefined,
  ) {}

  add(more: number): GatewayError | undefined {
    if (this.unpaid && this.bytes + more > UNPAID_BODY_BYTES) return this.unpaid;
    if (this.keepers === 0) return undefined;
    const refusal = this.memory.acquire(this.holder, more);
    if (refusal === undefined) this.bytes += more;
    return refusal;
  }

  /**
   * Counts the bytes until {@link release}, even after the answer has closed. If it closed before this call, the bytes were
   * given back and are taken again; this throws the refusal when there is no room for them. Call {@link release} in any case.
   */
  retain(): void {
    const refusal = this.keepers === 0 ? this.memory.acquire(this.holder, this.bytes) : undefined;
    this.keepers += 1;
    if (refusal === undefined) return;
    this.bytes = 0;
    throw refusal;
  }

  release(): void {
    this.keepers -= 1;
    if (this.keepers === 0) this.memory.release(this.holder, this.bytes);
  }
}
