import type { Caller } from '../auth/caller.js';
import { spendLimitMessage } from '../auth/spend-limit.js';
import { type ApiFamily, API_FAMILY_CODES } from '../common/errors/api-family.js';
import { type ErrorFields, GatewayError } from '../common/errors/gateway-error.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import { RUN_HEADER } from './run.guard.js';

/** What a refused call needs, and what there is. */
export interface Shortage {
  readonly outcome: 'insufficient' | 'over_limit' | 'over_run';
  /** The run of the call. */
  readonly run?: string | undefined;
  readonly neededMicroUsd: MicroUsd;
  /** The least of what the account and the limits leave. */
  readonly availableMicroUsd: MicroUsd;
  /** The largest output cap that fits, of a chat; undefined if none does. */
  readonly maxTokens?: number | undefined;
  /** The field of the endpoint that names it. */
  readonly maxTokensField?: string | undefined;
}

/** The parts of a caller that a refusal for want of money names. */
type Payer = Pick<Caller, 'spendLimit' | 'makerId' | 'isStale' | 'topUpUrl'>;

/**
 * 402 with the code of the API family: less is available to the account, or of the limit of the key or of the run, which `param`
 * names, than the call needs. The amounts are also fields of the error (decisions G-06, G-99, G-106).
 */
export function insufficientFundsError(
  surface: ApiFamily,
  shortage: Shortage,
  caller: Payer,
  nowMs: number,
): GatewayError {
  const { outcome, maxTokens, maxTokensField: field = 'max_tokens' } = shortage;
  const { needed_microusd: needed, available_microusd: available } = amountsOf(shortage);
  const message = [
    `This request may cost ${needed} micro-USD, and ${available} micro-USD are available.`,
    ...(maxTokens === undefined ? [] : [`With ${field} of at most ${maxTokens} it fits.`]),
    reasonOf(shortage, caller, nowMs),
  ];
  return new GatewayError(API_FAMILY_CODES[surface].insufficient, message.join(' '), {
    param: PARAMS[outcome],
    fields: {
      ...amountsOf(shortage),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...(outcome === 'insufficient' && topUpFields(caller)),
    },
  });
}

/** The amounts as fields of an error. A limit that was lowered leaves nothing, not less. */
export function amountsOf({
  neededMicroUsd,
  availableMicroUsd,
}: Pick<Shortage, 'neededMicroUsd' | 'availableMicroUsd'>) {
  return {
    needed_microusd: formatMicroUsd(neededMicroUsd),
    available_microusd: formatMicroUsd(availableMicroUsd > 0n ? availableMicroUsd : 0n),
  } satisfies ErrorFields;
}

/** Where the balance is told, and where it grows. */
export function balanceAdvice(topUpUrl: string | undefined): string {
  const told = 'GET /v1/account tells what the account has.';
  return topUpUrl === undefined ? told : `${told} Add to it at ${topUpUrl}`;
}

/** Where the account gets more money, as a field of an error. */
export function topUpFields({ topUpUrl }: Pick<Caller, 'topUpUrl'>): ErrorFields {
  return topUpUrl === undefined ? {} : { topup_url: topUpUrl };
}

const PARAMS = { insufficient: null, over_limit: 'spend_limit', over_run: RUN_HEADER } as const;

function reasonOf(
  { outcome, run = '' }: Shortage,
  { spendLimit, makerId, isStale, topUpUrl }: Payer,
  nowMs: number,
): string {
  if (outcome === 'insufficient') return balanceAdvice(topUpUrl);
  if (outcome === 'over_run') return `That is what is left of the limit of run "${run}".`;
  if (makerId !== undefined) {
    return 'That is what is left of what this key, or the key that made it, may spend.';
  }
  // The limit may have been set or changed since the request was admitted.
  if (!spendLimit || isStale) return 'That is what is left of what the key may spend.';
  return spendLimitMessage(spendLimit, nowMs);
}
