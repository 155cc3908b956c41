import type { NestExpressApplication } from '@nestjs/platform-express';
import { KeyCache } from '../auth/key-cache.js';
import { FastExpressAdapter } from '../common/http/fast-express.adapter.js';
import { OverloadGate } from '../common/http/overload-gate.js';
import { type HeaderMiddleware, OverloadRefusal } from '../common/http/overload-refusal.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { ExecutionLedger } from '../executions/execution-ledger.js';
import { Metrics } from '../observability/metrics.js';

/** Holder of the requests whose key is not known, or not yet. */
const UNKNOWN = 'unknown';
const BEARER = /^bearer (\S+)$/i;

/**
 * From now on callers are refused, with these headers, while more comes than `MAX_WAITING_REQUESTS` allow (decision
 * G-100).
 */
export function refuseOverload(
  app: NestExpressApplication,
  headers: readonly HeaderMiddleware[],
): void {
  const adapter = app.getHttpAdapter();
  // The description of the API is made without a server.
  if (!(adapter instanceof FastExpressAdapter)) return;
  const keys = app.get(KeyCache, { strict: false });
  const holderOf = (authorization = ''): string => {
    const key = BEARER.exec(authorization)?.[1];
    return (key === undefined ? undefined : keys.accountOf(key)) ?? UNKNOWN;
  };
  const { maxWaitingRequests: maxWaiting } = app.get<GatewayConfig>(GATEWAY_CONFIG);
  const holds = app.get(ExecutionLedger, { strict: false }).waiting;
  const { overloadRefusals } = app.get(Metrics);
  adapter.guard({
    gate: new OverloadGate({ maxWaiting, holderOf, holds, nowMs: () => performance.now() }),
    refusal: new OverloadRefusal(headers, app.get(Clock), () => {
      overloadRefusals.inc();
    }),
  });
}
