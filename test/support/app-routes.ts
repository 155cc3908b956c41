import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { AppModule } from '../../src/app.module.js';
import { loadConfig } from '../../src/platform/config/load-config.js';

/** A handler of the gateway, with what its decorators say. */
export interface AppRoute {
  /** Such as `GET /v1/tasks/:id`. */
  readonly name: string;
  readonly guards: readonly unknown[];
  /** The value of a decorator of the handler or else of its controller. */
  readonly told: (key: unknown) => unknown;
}

const metadata = (key: unknown, at: object): unknown => Reflect.getMetadata(key, at);
const listOf = (value: unknown): string[] => [value ?? ''].flat() as string[];

function routesOf(controller: { readonly prototype: object }): AppRoute[] {
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler = (controller.prototype as Record<string, unknown>)[name];
    if (typeof handler !== 'function') return [];
    const method = metadata(METHOD_METADATA, handler);
    if (method === undefined) return [];
    const guards = [controller, handler].flatMap((at) => metadata(GUARDS_METADATA, at) ?? []);
    const told = (key: unknown) => metadata(key, handler) ?? metadata(key, controller);
    return listOf(metadata(PATH_METADATA, controller)).flatMap((prefix) =>
      listOf(metadata(PATH_METADATA, handler)).map((path) => {
        const whole = `/${prefix}/${path}`.replaceAll(/\/+/g, '/').replace(/\/$/, '');
        return { name: `${RequestMethod[method as number]} ${whole}`, guards, told };
      }),
    );
  });
}

/** Every handler of the gateway. */
export async function appRoutes(): Promise<AppRoute[]> {
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
    .flatMap(({ metatype }) => routesOf(metatype as { readonly prototype: object }));
}
