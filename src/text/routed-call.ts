import type { AdmittedCall } from '../admission/admitted-call.js';
import { orderedRoutes } from '../providers/routing/route-order.js';
import type { TextRequest } from './text-request.js';

/** The call with its routes in the order in which it tries them. One account's name of a cache is not another's. */
export function routedCallOf(
  call: AdmittedCall<'chat'>,
  { affinity: name }: Pick<TextRequest, 'affinity'>,
): AdmittedCall<'chat'> {
  const affinity = name === undefined ? undefined : `${call.caller.accountId} ${name}`;
  const routes = orderedRoutes(call.routes, affinity);
  if (affinity === undefined) return routes === call.routes ? call : { ...call, routes };
  return { ...call, routes, affinity };
}
