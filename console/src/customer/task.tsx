import { useParams } from 'wouter-preact';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { Media } from '../shared/media.js';
import { usd } from '../shared/money.js';
import { Badge, Copy, Figures, Id, Money } from '../shared/parts.js';
import {
  type Moment,
  Panel,
  RawJson,
  ScreenHead,
  Timeline,
  type Tone,
  Unshown,
} from '../shared/parts.js';
import { useAnswer, usePages } from '../shared/queries.js';
import { useMayCall } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import {
  chargedOf,
  createdOf,
  endedOf,
  heldOf,
  isOver,
  mediaKindOf,
  type OwnTask,
} from '../shared/task-parts.js';
import { When } from '../shared/time.js';

type Delivery = Shape<'DeliveryView'>;
const UNDER_WAY_MS = 2_000;

/** One task of the account, from its hold to its deliveries. */
export default function Task() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['task', id],
    () => api.GET('/v1/tasks/{id}', { params: { path: { id } } }),
    { everyMs: UNDER_WAY_MS, until: isOver },
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  const kind = mediaKindOf(data);
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            Task on {data.model}: <Badge state={data.status} />{' '}
            <Copy text={data.id} what="the id" />
          </>
        }
      >
        {!isOver(data) && <Cancel id={id} />}
      </ScreenHead>
      <Figures
        of={[
          ['Held', <Money microUsd={isOver(data) ? null : heldOf(data)} />],
          ['Charged', <Money microUsd={chargedOf(data)} />],
          ['Given back', <Money microUsd={data.refunded_microusd} />],
          ['Done', data.progress === null ? '–' : `${data.progress} %`],
        ]}
      />
      {!isOver(data) && (
        <progress max={100} value={data.progress ?? undefined} aria-label="How much is done" />
      )}
      <Panel title="What happened">
        <Timeline of={momentsOf(data)} />
      </Panel>
      {data.result !== null && (
        <Panel title="Result">
          <Media result={data.result} kind={kind} />
        </Panel>
      )}
      <Deliveries taskId={id} />
      <RawJson value={data} />
    </>
  );
}

const ENDS: Readonly<Record<OwnTask['status'], readonly [Tone, string]>> = {
  queued: ['wait', 'Waits for a provider'],
  processing: ['wait', 'A provider works on it'],
  in_progress: ['wait', 'A provider works on it'],
  succeeded: ['good', 'Settled'],
  completed: ['good', 'Settled'],
  failed: ['bad', 'Failed'],
  expired: ['bad', 'Expired'],
  reconciliation_required: ['bad', 'The outcome is unknown: the operator decides it'],
};

/** Hold, the end, and what was given back. */
function momentsOf(task: OwnTask): readonly Moment[] {
  const [tone, words] = ENDS[task.status];
  const [charged, held] = [chargedOf(task), heldOf(task)];
  const { refunded_microusd: refunded } = task;
  return [
    {
      title: held === null ? 'Submitted' : `Submitted, ${usd(held)} held`,
      at: <When at={createdOf(task)} />,
    },
    {
      title: charged === null ? words : `${words}: ${usd(charged)} charged`,
      tone,
      ...(isOver(task) && { at: <When at={endedOf(task)} /> }),
      detail: task.error?.message ?? undefined,
    },
    ...(refunded ? [{ title: `Given back: ${usd(refunded)}` }] : []),
  ];
}

function Cancel({ id }: { readonly id: string }) {
  const mayCancel = useMayCall();
  if (!mayCancel) return null;
  const run = async () => {
    await answerOf(api.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } }));
    return 'The task was asked to stop.';
  };
  return (
    <Act label="Cancel" title="Cancel the task" isDangerous run={run}>
      <p>What a provider has not begun is free. What it has made may still be charged.</p>
    </Act>
  );
}

function Resend({ delivery }: { readonly delivery: Delivery }) {
  const maySend = useMayCall();
  const { id, task_id: taskId } = delivery;
  if (!maySend || taskId === null) return null;
  const run = async () => {
    const path = { id: taskId, delivery_id: id };
    await answerOf(
      api.POST('/v1/tasks/{id}/deliveries/{delivery_id}/redeliver', { params: { path } }),
    );
    return 'The next attempt is made now.';
  };
  return (
    <Act label="Send again" title="Send the webhook again" run={run}>
      <p>
        The same body goes to <span class="mono">{delivery.url}</span> once more. No money moves.
      </p>
    </Act>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { head: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Where', cell: ({ url }) => <span class="mono">{url}</span> },
  { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  { head: 'Next attempt', cell: ({ next_attempt_at: at }) => <When at={at} /> },
  { head: 'Delivery', cell: ({ id }) => <Id id={id} isShort /> },
  { head: 'Act', cell: (delivery) => <Resend delivery={delivery} /> },
];

function Deliveries({ taskId: id }: { readonly taskId: string }) {
  const pages = usePages(['deliveries', id], (cursor) =>
    api.GET('/v1/tasks/{id}/deliveries', {
      params: { path: { id }, query: cursor === undefined ? {} : { cursor } },
    }),
  );
  return (
    <Panel title="Deliveries">
      <PagedTable
        name="Deliveries"
        columns={COLUMNS}
        pages={pages}
        empty="No webhook tells of this task: it was submitted without one, or has not ended."
      />
    </Panel>
  );
}
