import { ApiProperty } from '@nestjs/swagger';
import type { Execution } from '../../billing/calls/execution.js';
import type { KeptAttempt } from '../../providers/routing/attempt-log.js';
import type { Task } from '../../tasks/task.js';
import { splitStepState } from '../../tasks/worker/step-notes.js';

/** How an attempt ends. */
export const ATTEMPT_OUTCOMES = [
  'success',
  'aborted',
  'rejected',
  'too_long',
  'rate_limited',
  'timeout',
  'http_error',
  'unavailable',
  'misconfigured',
  'account',
];

const milliseconds = { nullable: true, type: 'integer' } as const;
const word = { nullable: true, type: String } as const;

/** One attempt of a call or task at a provider. */
export class ProviderAttemptView {
  @ApiProperty({ example: 'elevenlabs', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ example: 'eleven_v3', description: 'Name of the model at the provider' })
  upstream_model!: string;

  @ApiProperty({
    ...word,
    enum: ['submit', 'look_up', 'poll', 'download'],
    description: 'The step of a task; null for a synchronous call',
  })
  step!: string | null;

  @ApiProperty({
    ...word,
    enum: ATTEMPT_OUTCOMES,
    description: 'How it ended; null for a failure of before this was kept',
  })
  outcome!: string | null;

  @ApiProperty({
    ...milliseconds,
    example: 4,
    description:
      'Milliseconds from the admission of the call, or the submission of the task, to its start; null where a single attempt succeeded',
  })
  start_ms!: number | null;

  @ApiProperty({
    ...milliseconds,
    example: 812,
    description: 'How long it took; 0 for a route that could not be asked',
  })
  duration_ms!: number | null;

  @ApiProperty({
    ...milliseconds,
    example: 230,
    description: 'Milliseconds from its start to the first usable byte; null: none came',
  })
  first_byte_ms!: number | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 503,
    description: 'HTTP status of a failure; null where it has none',
  })
  status!: number | null;

  @ApiProperty({
    ...word,
    example: 'breaker_open',
    description:
      "The provider's code of its failure, or why it was not asked: `breaker_open`, `no_connection`, `paused`, `too_late_to_send`",
  })
  code!: string | null;

  @ApiProperty({ ...word, description: "The provider's id of its answer" })
  provider_request_id!: string | null;
}

/** OpenAPI schema of the attempts of a call or task. */
export const ATTEMPTS = {
  type: ProviderAttemptView,
  isArray: true,
  description:
    'The attempts at providers, in their order: at most 16, the first ones and the last. Empty while a call runs, and where no provider was asked',
} as const;

/** The attempts of a call. One that succeeded alone has the figures of the call. */
export function viewAttempts(execution: Execution): ProviderAttemptView[] {
  const { attempts, provider, upstreamModel, status, providerFault } = execution;
  if (attempts !== null) return attempts.map(viewAttempt);
  if (provider === null || upstreamModel === null || status === 'running') return [];
  const isSuccess = status === 'succeeded';
  return [
    viewAttempt({
      provider,
      upstreamModel,
      outcome: isSuccess ? 'success' : null,
      startMs: null,
      durationMs: execution.durationMs,
      firstByteMs: isSuccess ? execution.firstByteMs : null,
      status: providerFault?.status ?? null,
      code: providerFault?.code ?? null,
      requestId: execution.providerRequestId,
    }),
  ];
}

/**
 * The attempts of a task: those of its submission, if one of them failed, and the others that mattered. A task that its provider took at
 * once has that one.
 */
export function viewTaskAttempts(task: Task): ProviderAttemptView[] {
  const { attempts } = splitStepState(task);
  if (attempts.length > 0) return attempts.map(viewAttempt);
  if (task.providerJobId === null && task.status !== 'succeeded') return [];
  return [viewAttempt({ ...ACCEPTED, provider: task.provider, upstreamModel: task.upstreamModel })];
}

type ShownAttempt = {
  readonly [Name in keyof KeptAttempt]: KeptAttempt[Name] | null;
} & Pick<KeptAttempt, 'provider' | 'upstreamModel'>;

const ACCEPTED = {
  step: 'submit',
  outcome: 'success',
  startMs: null,
  durationMs: null,
  firstByteMs: null,
  status: null,
  code: null,
  requestId: null,
} as const;

function viewAttempt(attempt: ShownAttempt): ProviderAttemptView {
  return {
    provider: attempt.provider,
    upstream_model: attempt.upstreamModel,
    step: attempt.step ?? null,
    outcome: attempt.outcome,
    start_ms: attempt.startMs,
    duration_ms: attempt.durationMs,
    first_byte_ms: attempt.firstByteMs,
    status: attempt.status,
    code: attempt.code,
    provider_request_id: attempt.requestId,
  };
}
