import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ApiHeaders } from '@nestjs/swagger';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import {
  isUnsignedAmount,
  parseMicroUsd,
  UNSIGNED_AMOUNT_RULE,
} from '../common/money/micro-usd.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { RunOfCall } from './admitted-call.js';

/** Names the run in which a call counts. */
export const RUN_HEADER = 'x-gateway-run';
/** Gives the run a limit at its first use. */
export const RUN_LIMIT_HEADER = 'x-gateway-run-limit-microusd';
/** Longest name of a run, in characters. */
const MAX_NAME = 128;
const NAME = /^[\x20-\x7e]{1,128}$/;

/** OpenAPI: the headers of a run. */
export const RunHeaders = (): MethodDecorator & ClassDecorator =>
  ApiHeaders([
    {
      name: RUN_HEADER,
      required: false,
      description: 'Counts the call in this run of the account: see `GET /v1/runs`',
      schema: { type: 'string', minLength: 1, maxLength: MAX_NAME, pattern: '^[ -~]+$' },
    },
    {
      name: RUN_LIMIT_HEADER,
      required: false,
      description: 'The most that the run may spend, in micro-USD; its first call sets it',
      schema: { type: 'string', pattern: '^[0-9]{1,16}$' },
    },
  ]);

/**
 * Reads the run of a paid call: `x-gateway-run`, or the first header of `RUN_HEADERS` that is sent. Throws 400
 * `invalid_request` that names the header, also for a limit without a run.
 */
@Injectable()
export class RunGuard implements CanActivate {
  /** In small letters, as Node names headers. */
  private readonly names: readonly string[];

  constructor(@Inject(GATEWAY_CONFIG) { runHeaders }: Pick<GatewayConfig, 'runHeaders'>) {
    this.names = [RUN_HEADER, ...runHeaders.map((name) => name.toLowerCase())];
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const run = runOf(request.headers, this.names);
    if (run) request.run = run;
    return true;
  }
}

function runOf(headers: Request['headers'], names: readonly string[]): RunOfCall | undefined {
  const limit = headers[RUN_LIMIT_HEADER];
  const name = names.find((header) => headers[header] !== undefined);
  if (name === undefined) {
    if (limit === undefined) return undefined;
    throw refusal(RUN_LIMIT_HEADER, `needs a run: send ${RUN_HEADER} too`);
  }
  const id = headers[name];
  if (typeof id !== 'string' || !NAME.test(id)) {
    throw refusal(name, `must have 1 to ${MAX_NAME} printable ASCII characters`);
  }
  if (limit === undefined) return { id };
  if (typeof limit !== 'string' || !isUnsignedAmount(limit)) {
    throw refusal(RUN_LIMIT_HEADER, UNSIGNED_AMOUNT_RULE);
  }
  return { id, limitMicroUsd: parseMicroUsd(limit) };
}

function refusal(header: string, rule: string): GatewayError {
  return new GatewayError('invalid_request', `${header} ${rule}.`, { param: header });
}
