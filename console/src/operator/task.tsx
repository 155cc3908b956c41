import type { ComponentChildren } from 'preact';
import { useParams } from 'wouter-preact';
import { answerOf, api, reasonHeader } from '../shared/api.js';
import { usd } from '../shared/money.js';
import { Badge, Copy, Facts, Figures, Id, Money } from '../shared/parts.js';
import { type Moment, Panel, RawJson, ScreenHead, Timeline, Unshown } from '../shared/parts.js';
import { PriceSum } from '../shared/price-sum.js';
import { useAnswer } from '../shared/queries.js';
import { When } from '../shared/time.js';
import { attemptMoments, Attempts } from './attempts.js';
import { Decide } from './decide-acts.js';
import { RefundAct } from './refund-act.js';
import { TaskDeliveries } from './task-deliveries.js';
import { TaskResult } from './task-file.js';
import {
  type AnyTask,
  chargedOf,
  createdOf,
  endedOf,
  heldOf,
  isOver,
} from '../shared/task-parts.js';

const UNDER_WAY_MS = 2_000;

/** One task, from its hold to its deliveries. */
export default function Task() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['task', id],
    () => api.GET('/admin/tasks/{id}', { params: { path: { id } } }),
    { everyMs: UNDER_WAY_MS, until: isOver },
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  const charged = chargedOf(data);
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            Task on {data.model}: <Badge state={data.task_status} />{' '}
            <Copy text={data.id} what="the id" />
          </>
        }
      >
        {data.task_status === 'reconciliation_required' && <Decide key={data.id} task={data} />}
        <RefundAct
          key={data.id}
          left={BigInt(charged ?? 0) - BigInt(data.refunded_microusd ?? 0)}
          refund={(body, { reason, idempotencyKey }) =>
            answerOf(
              api.POST('/admin/tasks/{id}/refund', {
                params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
                body,
                headers: reasonHeader(reason),
              }),
            )
          }
        />
      </ScreenHead>
      <Figures
        of={[
          ['Held', <Money microUsd={heldOf(data)} />],
          ['Charged', <Money microUsd={charged} />],
          ['Given back', <Money microUsd={data.refunded_microusd} />],
          ['Cost at the provider', <Money microUsd={data.cost_microusd} />],
          ['Done', data.progress === null ? '–' : `${data.progress} %`],
        ]}
      />
      <div class="columns">
        <Panel title="What happened">
          <Timeline of={momentsOf(data)} />
        </Panel>
        <Panel title="The sum">
          <PriceSum
            lines={data.lines}
            charged={charged}
            priceBook={data.price_book}
            factorPermille={data.factor_permille}
          />
        </Panel>
      </div>
      <TaskResult key={data.id} of={data} />
      <Panel title="Attempts at providers">
        <Attempts of={data.attempts} />
      </Panel>
      <TaskDeliveries taskId={id} />
      <Panel title="Facts">
        <TaskFacts of={data} />
      </Panel>
      <RawJson value={data} />
    </>
  );
}

const ENDS = {
  succeeded: ['good', 'Settled'],
  failed: ['bad', 'Failed'],
  expired: ['bad', 'Expired'],
  reconciliation_required: ['bad', 'Outcome unknown'],
  queued: ['wait', 'Waits for a provider'],
  processing: ['wait', 'A provider works on it'],
} as const;

/** Hold, attempts, what the provider was seen to say, the end, and what was given back. */
function momentsOf(task: AnyTask): readonly Moment[] {
  const [tone, words] = ENDS[task.task_status];
  const charged = chargedOf(task);
  const held = heldOf(task);
  const evidence = task.provider_evidence;
  return [
    {
      title: held === null ? 'Submitted' : `Submitted, ${usd(held)} held`,
      at: <When at={createdOf(task)} />,
    },
    ...attemptMoments(task.attempts),
    ...(evidence === null
      ? []
      : [{ title: `The provider says: ${evidence.status}`, at: <When at={evidence.seen_at} /> }]),
    {
      title: charged === null ? words : `${words}: ${usd(charged)} charged`,
      tone,
      ...(isOver(task) && { at: <When at={endedOf(task)} /> }),
      detail: task.error?.message ?? undefined,
    },
    ...(task.refunded_microusd ? [{ title: `Given back: ${usd(task.refunded_microusd)}` }] : []),
  ];
}

/** A fact, where there is one. */
const told = (name: string, value: unknown, shown: ComponentChildren = value as string) =>
  value === null ? [] : [[name, shown] as const];

function TaskFacts({ of: task }: { readonly of: AnyTask }) {
  const { provider_error: refusal, provider_job_id: job, provider_request_id: answer } = task;
  return (
    <Facts
      of={[
        ['Account', <Id id={task.account_id} to={`/accounts/${task.account_id}`} />],
        ['Key', <Id id={task.api_key_id} />],
        ['Submitted', <When at={createdOf(task)} />],
        ['Ended', <When at={endedOf(task)} />],
        ['Route', `${task.route.provider} · ${task.route.upstream_model}`],
        ...told("Provider's id of the work", job, <Id id={job} />),
        ...told("Provider's id of its answer", answer, <Id id={answer} />),
        ...told("Provider's last word", task.unknown_state),
        ...told(
          "Provider's refusal",
          refusal,
          refusal && `${refusal.status ?? ''} ${refusal.code ?? ''} ${refusal.message ?? ''}`,
        ),
        ...told("Provider's figures", task.provider_figures, JSON.stringify(task.provider_figures)),
        ...told('Client request id', task.client_request_id, <Id id={task.client_request_id} />),
        ...told('Run', task.run),
      ]}
    />
  );
}
