import { ApiProperty } from '@nestjs/swagger';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { PausableRoute, RoutePause } from '../../providers/routing/route-pause-store.js';
import type { ProbeResult } from '../probe-result.js';
import { ATTEMPT_OUTCOMES } from './attempt.view.js';

const word = { nullable: true, type: String } as const;

/** Who paused a route, why, and until when. */
export class PauseView {
  @ApiProperty({ description: 'Epoch seconds at which it ends' })
  expires_at!: number;

  @ApiProperty({ example: 'cli:ann', description: 'Who did it, as in the record of changes' })
  paused_by!: string;

  @ApiProperty({ description: 'Why, as the operator wrote it' })
  reason!: string;

  @ApiProperty({ description: 'Epoch seconds' })
  paused_at!: number;
}

/** OpenAPI schema of a pause. */
export const PAUSE = {
  nullable: true,
  type: PauseView,
  description: 'The pause that holds now; null: none',
} as const;

/** A route, or a provider, and its pause. */
export class PausedRouteView {
  @ApiProperty({ enum: ['route'], description: 'Says what kind of object this is' })
  object!: 'route';

  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ ...word, example: 'gpt-5', description: 'Null: all routes of the provider' })
  upstream_model!: string | null;

  @ApiProperty(PAUSE)
  paused!: PauseView | null;
}

/** What came of a probe. */
export class ProbeView {
  @ApiProperty({ enum: ['probe'], description: 'Says what kind of object this is' })
  object!: 'probe';

  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ ...word, example: 'gpt-5', description: 'Null where no model was named' })
  upstream_model!: string | null;

  @ApiProperty({ description: 'Whether it answered and took the key' })
  ok!: boolean;

  @ApiProperty({ enum: ATTEMPT_OUTCOMES, description: 'How it ended, as of an attempt' })
  outcome!: string;

  @ApiProperty({ type: 'integer', example: 180, description: 'How long it took' })
  duration_ms!: number;

  @ApiProperty({
    nullable: true,
    type: Boolean,
    description: 'Whether the provider lists the model; null where its list does not say',
  })
  knows_model!: boolean | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 401,
    description: 'HTTP status of a failure',
  })
  status!: number | null;

  @ApiProperty({ ...word, description: "The provider's own code of the failure" })
  code!: string | null;

  @ApiProperty({ ...word, description: 'Its sentence, redacted, at most 500 characters' })
  message!: string | null;

  @ApiProperty({ ...word, description: "The provider's id of its answer" })
  provider_request_id!: string | null;
}

/** A route and its pause. */
export function viewPausedRoute(
  { provider, upstreamModel }: PausableRoute,
  pause: RoutePause | null,
): PausedRouteView {
  return { object: 'route', provider, upstream_model: upstreamModel, paused: viewPause(pause) };
}

/** The result of a probe. */
export function viewProbe({ route, outcome, fault, ...result }: ProbeResult): ProbeView {
  return {
    object: 'probe',
    provider: route.provider,
    upstream_model: route.upstreamModel,
    ok: outcome === 'success',
    outcome,
    duration_ms: result.durationMs,
    knows_model: result.knowsModel,
    status: fault?.status ?? null,
    code: fault?.code ?? null,
    message: fault?.message ?? null,
    provider_request_id: result.providerRequestId,
  };
}

/** The pause that holds now. */
export function viewPause(pause: RoutePause | null): PauseView | null {
  return (
    pause && {
      expires_at: toEpochSeconds(pause.until),
      paused_by: pause.actor,
      reason: pause.reason,
      paused_at: toEpochSeconds(pause.pausedAt),
    }
  );
}
