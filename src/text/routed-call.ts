import type { AdmittedCall } from '../admission/admitted-call.js';
import { routesByCost } from '../admission/route-choice.js';
import type { MadeUnits } from '../catalog/route-cost.js';
import { orderedRoutes } from '../providers/routing/route-order.js';
import type { TextRequest } from './text-request.js';

/** The bound of a prompt counts its bytes, of which a token has about four. */
const BYTES_PER_TOKEN = 4;

type AskedText = Pick<TextRequest, 'affinity' | 'promptTokens' | 'maxTokens'>;

/** The call with its routes in the order in which it tries them. One account's name of a cache is not another's. */
export function routedCallOf(call: AdmittedCall<'chat'>, asked: AskedText): AdmittedCall<'chat'> {
  const { affinity: name } = asked;
  const affinity = name === undefined ? undefined : `${call.caller.accountId} ${name}`;
  const byCost = routesByCost(call, () => usualAnswerOf(call, asked));
  const routes = orderedRoutes(byCost, affinity);
  if (affinity === undefined) return routes === call.routes ? call : { ...call, routes };
  return { ...call, routes, affinity };
}

/** What a usual answer to the prompt takes, by which the costs of routes are compared. */
function usualAnswerOf(
  { row }: AdmittedCall<'chat'>,
  { promptTokens, maxTokens = Infinity }: AskedText,
): MadeUnits {
  return {
    quantity: {
      promptTokens: Math.ceil(promptTokens / BYTES_PER_TOKEN),
      cachedTokens: null,
      completionTokens: Math.min(maxTokens, row.minOutputTokens),
      reasoningTokens: null,
    },
  };
}
