import { RoutePauseBody } from '../admin/dto/admin.bodies.js';
import { viewPausedRoute, viewProbe } from '../admin/views/paused-route.view.js';
import { viewProviders } from '../admin/views/provider.view.js';
import type { PausableRoute } from '../providers/routing/route-pause-store.js';
import type { OperatorCommand } from './operator-command.js';
import { sent, timeOf, without } from './parse-options.js';

/** The provider that the words name, or one route of it. */
function routeOf([provider = '', route]: readonly string[]): PausableRoute {
  return { provider, upstreamModel: route ?? null };
}

/** The commands about providers and their routes. */
export const PROVIDER_COMMANDS = {
  providers: {
    run: async ({ providers }) => viewProviders(await providers.list()),
  },
  'route:pause': {
    changes: true,
    run: async ({ providers }, words, options, actor) => {
      const expires_at = timeOf(options, 'expires-at');
      const body = sent(RoutePauseBody, without(options, 'expires-at'), {
        ...(expires_at !== undefined && { expires_at }),
      });
      const route = routeOf(words);
      return viewPausedRoute(route, await providers.pause(route, body, actor));
    },
  },
  'route:resume': {
    changes: true,
    run: async ({ providers }, words) => {
      const route = routeOf(words);
      await providers.resume(route);
      return viewPausedRoute(route, null);
    },
  },
  'route:probe': {
    changes: true,
    run: async ({ providers }, words) => viewProbe(await providers.probe(routeOf(words))),
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
