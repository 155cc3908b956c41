import { ApiProperty } from '@nestjs/swagger';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import {
  type AttemptCounts,
  FIGURES_WINDOW_MS,
  quantileOf,
} from '../../providers/routing/route-figures.js';
import type { DaySums, ProviderHealth, RouteHealth } from '../provider-health.js';
import { PAUSE, type PauseView, viewPause } from './paused-route.view.js';

const word = { nullable: true, type: String } as const;

/** What came of the attempts of the last hour in all processes, and what today's calls and tasks cost. */
class FiguresView {
  @ApiProperty({ type: 'integer', description: 'Attempts of the last hour, polls included' })
  attempts!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { timeout: 3, rate_limited: 12 },
    description: 'Those of them that failed, by kind, as `outcome` of an attempt; without others',
  })
  errors!: Record<string, number>;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 310,
    description:
      'Half of them took at most this, to the first usable byte of a stream, else to the end',
  })
  latency_p50_ms!: number | null;

  @ApiProperty({ nullable: true, type: 'integer', description: '99 % of them took at most this' })
  latency_p99_ms!: number | null;

  @ApiProperty({ type: 'integer', description: 'Calls and tasks that ended today (UTC)' })
  calls_today!: number;

  @ApiProperty({ example: '120000', description: 'What they were charged' })
  charged_today_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '80000',
    description:
      'What they cost at the provider, where known; null to whom the role does not show it',
  })
  cost_today_microusd!: string | null;
}

/** The circuit breaker of one operation. */
class OperationView {
  @ApiProperty({ example: 'chat', description: 'What it is asked to do' })
  operation!: string;

  @ApiProperty({
    enum: ['closed', 'half_open', 'open'],
    description: 'State of the circuit breaker; the worst one of all processes',
  })
  breaker!: string;

  @ApiProperty({ type: 'integer', description: 'In how many processes it is not closed' })
  open_in_processes!: number;
}

/** One model of a provider. */
class ProviderRouteView extends FiguresView {
  @ApiProperty({ example: 'gpt-5', description: 'Name of the model at the provider' })
  upstream_model!: string;

  @ApiProperty({ example: ['gen-5'], description: 'Models of the catalog that have this route' })
  models!: string[];

  @ApiProperty({ type: [OperationView], description: 'Its operations with their breakers' })
  operations!: OperationView[];

  @ApiProperty(PAUSE)
  paused!: PauseView | null;
}

/** One key of a provider. */
class ProviderKeyView {
  @ApiProperty({ example: 'key-1', description: 'Its place in the variable' })
  key!: string;

  @ApiProperty({
    ...word,
    enum: ['rate_limited', 'account'],
    description:
      'Why the provider refused it last; it comes after the others until it is accepted. Null: it was accepted',
  })
  refused_as!: string | null;

  @ApiProperty({ type: 'integer', description: 'In how many processes it was refused last' })
  refused_in_processes!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that began within a minute' })
  requests_last_minute!: number;

  @ApiProperty({ type: 'integer', description: 'Requests in flight' })
  running!: number;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    description: 'Most requests within a minute, in each process; null: no limit is set',
  })
  requests_per_minute!: number | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    description: 'Most requests in flight, in each process; null: no limit is set',
  })
  concurrent!: number | null;
}

/** The keys of a provider. */
class ProviderKeysView {
  @ApiProperty({
    ...word,
    example: 'OPENAI_API_KEY',
    description: 'Name of the variable that holds them; null where it takes none',
  })
  variable!: string | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    description: 'How many there are; null where no running process told',
  })
  count!: number | null;

  @ApiProperty({ type: [ProviderKeyView], description: 'Each of them, by its number' })
  list!: ProviderKeyView[];
}

/** One provider as the running processes see it. */
class ProviderView extends FiguresView {
  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  id!: string;

  @ApiProperty({ enum: ['provider'], description: 'Says what kind of object this is' })
  object!: 'provider';

  @ApiProperty({ ...word, example: 'openai', description: 'The protocol that it speaks' })
  protocol!: string | null;

  @ApiProperty({
    ...word,
    enum: ['provider', 'sandbox'],
    description: 'Who does its work; null where no running process has a key',
  })
  served_by!: string | null;

  @ApiProperty({ description: 'Its keys, never their text' })
  keys!: ProviderKeysView;

  @ApiProperty(PAUSE)
  paused!: PauseView | null;

  @ApiProperty({ type: [ProviderRouteView], description: 'Its models' })
  routes!: ProviderRouteView[];
}

/** All providers on one page. */
export class ProviderPage extends pageOfViews(ProviderView) {
  @ApiProperty({
    type: 'integer',
    example: FIGURES_WINDOW_MS / 1000,
    description: 'Seconds of which the attempts are',
  })
  window_seconds!: number;
}

/** The providers as a page. */
export function viewProviders(providers: readonly ProviderHealth[]): ProviderPage {
  return {
    object: 'list',
    data: providers.map(viewProvider),
    has_more: false,
    next_cursor: null,
    window_seconds: FIGURES_WINDOW_MS / 1000,
  };
}

function viewProvider(provider: ProviderHealth): ProviderView {
  return {
    id: provider.id,
    object: 'provider',
    protocol: provider.protocol,
    served_by: provider.servedBy,
    keys: {
      variable: provider.keyVariable,
      count: provider.keys,
      list: provider.keyFigures.map(viewKey),
    },
    ...viewFigures(provider),
    paused: viewPause(provider.pause),
    routes: provider.routes.map(viewRoute),
  };
}

function viewKey(key: ProviderHealth['keyFigures'][number]): ProviderKeyView {
  const { requestsPerMinute = null, concurrent = null } = key.limits;
  return {
    key: key.name,
    refused_as: key.refusedAs,
    refused_in_processes: key.refusedIn,
    requests_last_minute: key.lastMinute,
    running: key.running,
    requests_per_minute: requestsPerMinute,
    concurrent,
  };
}

function viewRoute(route: RouteHealth): ProviderRouteView {
  return {
    upstream_model: route.upstreamModel,
    models: [...route.models],
    operations: route.operations.map(({ operation, breaker, openIn }) => ({
      operation,
      breaker,
      open_in_processes: openIn,
    })),
    ...viewFigures(route),
    paused: viewPause(route.pause),
  };
}

function viewFigures({
  attempts,
  today,
}: {
  readonly attempts: AttemptCounts;
  readonly today: DaySums;
}): FiguresView {
  const { success = 0, ...errors } = attempts.outcomes;
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  return {
    attempts: success + failed,
    errors,
    latency_p50_ms: quantileOf(attempts, 0.5),
    latency_p99_ms: quantileOf(attempts, 0.99),
    calls_today: Number(today.calls),
    charged_today_microusd: formatMicroUsd(today.charged),
    cost_today_microusd: formatMicroUsd(today.cost),
  };
}
