import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AvailableFunds } from '../billing/available-funds.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { SURFACE_CODES, surfaceOf } from '../common/errors/surface.js';
import { BodyGate, type BodyKind, type BodyMeter } from '../common/http/body-gate.js';
import { SharedQuantity } from '../common/shared-quantity.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';

/** Largest body that an account without funds may send (decision G-101). */
const UNPAID_BODY_BYTES = 1_048_576;
/** One account may have at most one of this many equal parts. */
const SHARES = 2;
/** Holder of the bodies that operators send. */
const OPERATOR = 'operator';

/**
 * Accepts bodies within `BODY_MEMORY_MAX_BYTES`, half of it for the keys of one account; beyond that 429 or 503. Accounts without funds
 * may send only small bodies and no forms; otherwise 402 (decisions G-100, G-101).
 */
@Injectable()
export class AccountBodyGate extends BodyGate {
  private readonly memory: SharedQuantity;

  constructor(
    private readonly funds: AvailableFunds,
    @Inject(GATEWAY_CONFIG) { bodyMemoryMaxBytes: total }: GatewayConfig,
    metrics: Metrics,
  ) {
    super();
    const perHolder = total / SHARES;
    this.memory = new SharedQuantity({ total, perHolder, what: 'request bodies under way' });
    metrics.watch(
      'gateway_body_memory_bytes',
      'Bytes of request bodies in memory',
      () => this.memory.inUse,
    );
  }

  async open(request: Request, response: Response, kind: BodyKind): Promise<BodyMeter> {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const declared = Number(length ?? 0);
    const isLarge = kind === 'form' || declared > UNPAID_BODY_BYTES;
    const unpaid = isLarge || encoding !== undefined ? await this.unpaid(request) : undefined;
    if (unpaid && isLarge) throw unpaid;
    // The file of a form is written to disk, where the spool counts it.
    if (kind === 'form') return { add: () => undefined };
    const holder = request.caller?.accountId ?? OPERATOR;
    const refusal = this.memory.refusal(holder, declared);
    if (refusal) throw refusal;
    return this.meter(holder, response, unpaid);
  }

  /** The refusal of a body that is too large for an account without funds; undefined for an account with funds. */
  private async unpaid({ caller, path }: Request): Promise<GatewayError | undefined> {
    if (caller === undefined || (await this.funds.has(caller.accountId))) return undefined;
    const { insufficient } = SURFACE_CODES[surfaceOf(path)];
    return new GatewayError(insufficient, 'The balance cannot cover this request.');
  }

  /** Counts the bytes until the answer has ended, because the parsed body may be in memory until then. */
  private meter(holder: string, response: Response, unpaid: GatewayError | undefined): BodyMeter {
    let bytes = 0;
    response.on('close', () => {
      this.memory.give(holder, bytes);
    });
    return {
      add: (more) => {
        if (unpaid && bytes + more > UNPAID_BODY_BYTES) return unpaid;
        const isGone = response.closed;
        const refusal = isGone ? undefined : this.memory.take(holder, more);
        if (refusal === undefined && !isGone) bytes += more;
        return refusal;
      },
    };
  }
}
