import { useEffect, useState } from 'preact/hooks';
import { answerOf, api, CONSOLE_PATH, problemOf } from '../../shared/api.js';
import { Media } from '../../shared/media.js';
import { Badge, Facts, Id, Money, Problem, RawJson } from '../../shared/parts.js';
import { chargedOf, mediaKindOf, type OwnTask } from '../../shared/task-parts.js';
import { eventsOf } from './events.js';
import { isAbort } from './send.js';

interface Progress {
  readonly status: string;
  readonly progress: number | null;
}

/** A task as the answer to its submission has it: a video tells no money there. */
interface SubmittedTask extends Progress {
  readonly id: string;
  readonly object: string;
  readonly reserved_microusd?: string;
}

/** The task that an answer says the work was taken over by. */
export function takenOver(value: unknown): SubmittedTask | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  const isTask = 'object' in value && (value.object === 'task' || value.object === 'video');
  return isTask ? (value as SubmittedTask) : undefined;
}

/** A task as it goes on, and its media at the end. */
export function TaskProgress(props: {
  readonly first: SubmittedTask;
  readonly isOfSandbox: boolean;
}) {
  const { first, isOfSandbox } = props;
  const { id } = first;
  const [now, setNow] = useState<Progress>(first);
  const [task, setTask] = useState<OwnTask>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const controller = new AbortController();
    follow(id, controller.signal, setNow).then(setTask, (problem: unknown) => {
      if (!isAbort(problem)) setError(problem);
    });
    return () => controller.abort();
  }, [id]);
  return (
    <div class="stack">
      {task === undefined ? <UnderWay now={now} /> : <TaskEnd task={task} />}
      {task === undefined && error === undefined && <StopTask id={id} />}
      {error !== undefined && <Problem error={error} />}
      <Facts
        of={[
          ...(task === undefined
            ? [['Held', <Money microUsd={first.reserved_microusd} />] as const]
            : []),
          ['Charged', <Money microUsd={task === undefined ? null : chargedOf(task)} />],
          ['Task', <Id id={id} to={`/tasks/${id}`} />],
          ...(isOfSandbox ? [['Made by', 'the sandbox'] as const] : []),
        ]}
      />
      {task !== undefined && <RawJson value={task} />}
    </div>
  );
}

function UnderWay({ now: { status, progress } }: { readonly now: Progress }) {
  return (
    <>
      <p role="status">
        <Badge state={status} />
        {progress !== null && ` ${progress} %`}
      </p>
      <progress max={100} value={progress ?? undefined} aria-label="How much is done" />
    </>
  );
}

function TaskEnd({ task }: { readonly task: OwnTask }) {
  return (
    <>
      <p role="status">
        <Badge state={task.status} />
      </p>
      {task.error !== null && <p class="notice bad">{task.error.message}</p>}
      {task.result !== null && <Media result={task.result} kind={mediaKindOf(task)} />}
    </>
  );
}

/** Asks the gateway to end the task; what a provider has begun goes on. */
function StopTask({ id }: { readonly id: string }) {
  const [error, setError] = useState<unknown>();
  const stop = () => {
    answerOf(api.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } })).catch(setError);
  };
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <p>
        <button type="button" onClick={stop}>
          Cancel the task
        </button>
      </p>
    </>
  );
}

/** Tells each state of a task; answers the whole of it at its end. */
async function follow(
  id: string,
  signal: AbortSignal,
  onState: (state: Progress) => void,
): Promise<OwnTask> {
  const path = `${CONSOLE_PATH}/api/v1/tasks/${encodeURIComponent(id)}/events`;
  const response = await fetch(path, { signal, credentials: 'same-origin' });
  if (!response.ok) throw problemOf(response, await response.json().catch(() => undefined));
  for await (const { name, data } of eventsOf(response)) {
    if (name === 'end') return JSON.parse(data) as OwnTask;
    onState(JSON.parse(data) as Progress);
  }
  // A stream that is cut, as at a restart of the gateway, says nothing of the task.
  return answerOf(api.GET('/v1/tasks/{id}', { params: { path: { id } }, signal }));
}
