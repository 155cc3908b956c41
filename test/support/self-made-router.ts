import type { PaidCallContext } from '../../src/billing/calls/paid-call.js';

const ROUTE = { provider: 'sandbox', upstreamModel: 'eleven_v3' };

/** A router without providers: the work of an attempt makes the result itself. */
export const SELF_MADE_ROUTER: PaidCallContext['router'] = {
  run: async (_routes, _operation, work, owner) => ({
    ...ROUTE,
    result: await work(undefined as never, {
      upstreamModel: ROUTE.upstreamModel,
      signal: owner.signal,
      owner,
    }),
  }),
};
