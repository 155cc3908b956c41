import { describe, expect, it } from '@jest/globals';
import { NEEDED_SCOPE, ScopeGuard } from '../src/auth/scope.guard.js';
import { ContentReaderGuard } from '../src/tasks/content-links/content-reader.guard.js';
import { type AppRoute, appRoutes } from './support/app-routes.js';

describe('every endpoint below /v1', () => {
  it('names the scope that it needs, and has the guard that asks for it (G-109)', async () => {
    const routes = (await appRoutes()).filter(({ name }) => name.includes(' /v1'));
    expect(routes.length).toBeGreaterThan(30);
    const isGuarded = ({ guards }: AppRoute) =>
      guards.includes(ScopeGuard) || guards.includes(ContentReaderGuard);
    const open = routes.filter(
      (route) => route.told(NEEDED_SCOPE) === undefined || !isGuarded(route),
    );
    expect(open.map(({ name }) => name)).toEqual([]);
    const needing = (scope: string) =>
      routes
        .filter((route) => (route.told(NEEDED_SCOPE) as string[]).join(' or ') === scope)
        .map(({ name }) => name)
        .sort();
    expect(needing('read or call')).toEqual([
      'GET /v1/models',
      'GET /v1/models/:id',
      'GET /v1/voices',
      'POST /v1/quotes',
    ]);
    expect(needing('read')).toEqual(
      expect.arrayContaining([
        'GET /v1/account',
        'GET /v1/executions',
        'GET /v1/runs',
        'GET /v1/runs/:id',
        'GET /v1/tasks',
        'GET /v1/usage',
      ]),
    );
    expect(needing('manage')).toEqual(
      expect.arrayContaining([
        'DELETE /v1/keys/:id',
        'DELETE /v1/webhook-endpoints/:id',
        'GET /v1/keys',
        'GET /v1/keys/:id',
        'GET /v1/webhook-deliveries',
        'GET /v1/webhook-endpoints',
        'GET /v1/webhook-endpoints/:id',
        'PATCH /v1/account',
        'PATCH /v1/keys/:id',
        'POST /v1/keys',
        'POST /v1/webhook-deliveries/:id/redeliver',
        'POST /v1/webhook-endpoints',
        'POST /v1/webhook-endpoints/:id/test',
      ]),
    );
  });
});
