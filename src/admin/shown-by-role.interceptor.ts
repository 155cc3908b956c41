import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../common/entries-limit.js';
import { concatMap, type Observable } from 'rxjs';
import { OperatorActions } from '../auth/acts/operator-actions.js';
import type { Operator } from '../auth/operators/operator.js';
import { reaches } from '../auth/operators/role.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { isJsonObject } from '../common/json-object.js';
import { parseUrl } from '../common/parse-url.js';

/** What callers sent and what was made of it. */
const CONTENT: ReadonlySet<string> = new Set(['input', 'output', 'prompt', 'result']);
/** A provider may quote in it what a caller sent. */
const QUOTES: ReadonlySet<string> = new Set(['provider_error']);
/** What calls cost at their providers, and what that leaves; `cost` of a route is one too, that of a video is its price. */
const COSTS: ReadonlySet<string> = new Set([
  'cost_microusd',
  'cost_today_microusd',
  'margin_microusd',
  'provider_figures',
  'reported_cost',
]);

/** The URL of a webhook, which often has a token of its receiver. */
const RECEIVERS: ReadonlySet<string> = new Set(['url', 'webhook_url']);

/** One look at a thing, however often its page reads it anew in this time. */
const LOOK_MS = 300_000;
const MAX_LOOKS = 10_000;

const LOOK = Symbol('LOOK');
const COSTS_IN_CSV = Symbol('COSTS_IN_CSV');

/** Says that the handler shows content of customers, and by which act a look at it is recorded. */
export const ShowsContent = (act: string): MethodDecorator => SetMetadata(LOOK, act);

/** Says that the CSV of the handler has columns of costs. */
export const CostsInCsv = (): MethodDecorator => SetMetadata(COSTS_IN_CSV, true);

/**
 * Leaves out of answers what the role does not show: of viewers prompts, results and what providers said, below finance costs
 * and margins. Of the URL of a webhook viewers see the origin. In sessions of the console a list shows no content, and a look at that of one thing is recorded before it is
 * answered. The admin token itself gets all.
 */
@Injectable()
export class ShownByRoleInterceptor implements NestInterceptor {
  private readonly looks = new LRUCache<string, true>({ ...entriesLimit(MAX_LOOKS), ttl: LOOK_MS });

  constructor(
    private readonly reflector: Reflector,
    private readonly actions: OperatorActions,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { operator } = request;
    if (operator?.session === undefined) return next.handle();
    const handler = context.getHandler();
    if (this.reflector.get<true | undefined>(COSTS_IN_CSV, handler)) checkCsv(request, operator);
    const act = this.reflector.get<string | undefined>(LOOK, handler);
    return next.handle().pipe(concatMap((answer) => this.shown(answer, operator, request, act)));
  }

  private async shown(
    answer: unknown,
    operator: Operator,
    request: Request,
    act: string | undefined,
  ): Promise<unknown> {
    const [isSupport, isFinance] = [
      reaches(operator.role, 'support'),
      reaches(operator.role, 'finance'),
    ];
    const showsContent = isSupport && !isList(answer);
    const isLeftOut = (key: string, value: unknown): boolean => {
      if (COSTS.has(key) || (key === 'cost' && isJsonObject(value))) return !isFinance;
      if (QUOTES.has(key)) return !showsContent;
      return act !== undefined && CONTENT.has(key) && !showsContent;
    };
    const left = changed(answer, (key, value) => {
      if (isLeftOut(key, value)) return null;
      const isReceiver = !isSupport && RECEIVERS.has(key) && typeof value === 'string';
      return isReceiver ? originOf(value) : value;
    });
    if (act !== undefined && showsContent) await this.noteLook(answer, operator, request, act);
    return left;
  }

  private async noteLook(
    answer: unknown,
    { actor, role, person, reason, identity, session }: Operator,
    { params, ip }: Request,
    action: string,
  ): Promise<void> {
    const hasContent =
      isJsonObject(answer) && [...CONTENT, ...QUOTES].some((key) => answer[key] != null);
    const target = typeof params.id === 'string' ? params.id : null;
    const look = [session?.id, action, target].join(' ');
    if (!hasContent || this.looks.has(look)) return;
    const seen = { actor, role, person, reason, identity, action, target, address: ip ?? null };
    await this.actions.perform(seen, () => Promise.resolve());
    this.looks.set(look, true);
  }
}

function checkCsv({ query }: Request, { role }: Operator): void {
  if (query.format !== 'csv' || reaches(role, 'finance')) return;
  const message = `The CSV has costs, which need the role finance. Yours is ${role}.`;
  throw new GatewayError('permission_denied', message, { param: 'role' });
}

const isList = (answer: unknown): boolean => isJsonObject(answer) && answer.object === 'list';

/** Null where it is no URL. */
const originOf = (url: string): string | null => parseUrl(url)?.origin ?? null;

/** A copy with other values of some keys; values that are no plain objects, such as files, as they are. */
function changed(value: unknown, shownAs: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => changed(item, shownAs));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    changed(shownAs(key, inner), shownAs),
  ]);
  return Object.fromEntries(entries) as unknown;
}

/** Views are plain objects, or of classes of their own without methods. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { constructor } = value as { constructor?: { name?: string } };
  return constructor === Object || constructor === undefined;
}
