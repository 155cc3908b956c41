import { useState } from 'preact/hooks';
import { Act, type Deed } from '../shared/act.js';
import { Amount } from '../shared/amount.js';
import { answerOf, api, reasonHeader, type Shape } from '../shared/api.js';
import { microUsdOf, usd } from '../shared/money.js';
import { Problem } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type AnyTask, heldOf } from '../shared/task-parts.js';

async function resolve(task: AnyTask, body: Shape<'ResolveTaskBody'>, { reason }: Deed) {
  const { id } = task;
  const headers = reasonHeader(reason);
  return answerOf(
    api.POST('/admin/tasks/{id}/resolve', { params: { path: { id } }, body, headers }),
  );
}

/** The three ways to decide a task whose outcome is unknown; each says what it does to the money. */
export function Decide({ task }: { readonly task: AnyTask }) {
  const mayDecide = useMay('finance');
  const held = BigInt(heldOf(task) ?? 0);
  const [typed, setTyped] = useState(usd(held).slice(1));
  if (!mayDecide) return null;
  const charged = microUsdOf(typed) ?? 0n;
  const made = async (deed: Deed) => {
    await resolve(task, { outcome: 'succeeded', charged_microusd: charged.toString() }, deed);
    return `Decided: it was made. ${usd(charged)} is charged.`;
  };
  const notMade = async (deed: Deed) => {
    await resolve(task, { outcome: 'failed' }, deed);
    return `Decided: it was not made. ${usd(held)} is free again.`;
  };
  const collect = async (deed: Deed) => {
    const { task_status: status } = await resolve(task, { outcome: 'collect' }, deed);
    return `Asked the provider again: the task is ${status.replaceAll('_', ' ')}.`;
  };
  return (
    <>
      <Act label="It was made" title="It was made" isMain movesMoney run={made}>
        <p>The provider did the work. The task succeeds, and its holder pays.</p>
        <Amount
          label="Charge in dollars"
          value={typed}
          onInput={setTyped}
          most={held}
          hint={`At most the ${usd(held)} that is held.`}
        />
        <Effect task={task} held={held} charged={charged} />
      </Act>
      <Act label="It was not made" title="It was not made" isDangerous movesMoney run={notMade}>
        <p>The provider did no work. The task fails, and its holder pays nothing.</p>
        <Effect task={task} held={held} charged={0n} />
      </Act>
      <Act label="Collect again" title="Collect the result again" movesMoney run={collect}>
        <p>
          The provider is asked for the result. If it gives one, the task succeeds and up to{' '}
          {usd(held)} is charged. If not, the money stays held and the task stays here.
        </p>
        <Effect task={task} held={held} charged={held} />
      </Act>
    </>
  );
}

/** The balance of the account before and after. */
function Effect(props: {
  readonly task: AnyTask;
  readonly held: bigint;
  readonly charged: bigint;
}) {
  const { task, held, charged } = props;
  const { account_id: id } = task;
  const { data, error } = useAnswer(['account', id], () =>
    api.GET('/admin/accounts/{id}', { params: { path: { id } } }),
  );
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return null;
  const available = BigInt(data.available_microusd);
  const allHeld = BigInt(data.held_microusd);
  const rows = [
    ['Available', available, available + held - charged],
    ['Held', allHeld, allHeld - held],
    ['Charged by this task', 0n, charged],
  ] as const;
  return (
    <table>
      <caption>What it does to the money of {data.name}</caption>
      <thead>
        <tr>
          <th scope="col">Money</th>
          <th scope="col" class="end">
            Now
          </th>
          <th scope="col" class="end">
            After
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, now, after]) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="end">{usd(now)}</td>
            <td class="end">{usd(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
