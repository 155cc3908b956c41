import { describe, expect, it } from '@jest/globals';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { AppModule } from '../src/app.module.js';
import { NEEDED_SCOPE, ScopeGuard } from '../src/auth/scope.guard.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { ContentReaderGuard } from '../src/tasks/content-links/content-reader.guard.js';

interface Route {
  readonly name: string;
  readonly scope: unknown;
  readonly guards: readonly unknown[];
}

const metadata = (key: unknown, at: object): unknown => Reflect.getMetadata(key, at);
const listOf = (value: unknown): string[] => [value ?? ''].flat() as string[];

/** Every handler below /v1, with the scope that it, or else its controller, names. */
function routesOf(controller: { readonly prototype: object }): Route[] {
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler = (controller.prototype as Record<string, unknown>)[name];
    if (typeof handler !== 'function') return [];
    const method = metadata(METHOD_METADATA, handler);
    if (method === undefined) return [];
    const scope = metadata(NEEDED_SCOPE, handler) ?? metadata(NEEDED_SCOPE, controller);
    const guards = [controller, handler].flatMap((at) => metadata(GUARDS_METADATA, at) ?? []);
    return listOf(metadata(PATH_METADATA, controller)).flatMap((prefix) =>
      listOf(metadata(PATH_METADATA, handler)).map((path) => {
        const whole = `/${prefix}/${path}`.replaceAll(/\/+/g, '/').replace(/\/$/, '');
        return { name: `${RequestMethod[method as number]} ${whole}`, scope, guards };
      }),
    );
  });
}

async function v1Routes(): Promise<Route[]> {
  const module = AppModule.forRoot({
    config: loadConfig({}),
    logger: pino({ level: 'silent' }),
    catalog: { rows: [], providers: [] },
    providers: { providers: [] },
  });
  const app = await NestFactory.createApplicationContext(module, { preview: true, logger: false });
  const modules = [...app.get(ModulesContainer).values()];
  await app.close();
  return modules
    .flatMap(({ controllers }) => [...controllers.values()])
    .flatMap(({ metatype }) => routesOf(metatype as { readonly prototype: object }))
    .filter(({ name }) => name.includes(' /v1'));
}

describe('every endpoint below /v1', () => {
  it('names the scope that it needs, and has the guard that asks for it (G-109)', async () => {
    const routes = await v1Routes();
    expect(routes.length).toBeGreaterThan(30);
    const isGuarded = ({ guards }: Route) =>
      guards.includes(ScopeGuard) || guards.includes(ContentReaderGuard);
    const open = routes.filter((route) => route.scope === undefined || !isGuarded(route));
    expect(open.map(({ name }) => name)).toEqual([]);
    const needing = (scope: string) =>
      routes.flatMap((route) => (route.scope === scope ? [route.name] : [])).sort();
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
