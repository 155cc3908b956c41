import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { Chart } from '../shared/chart.js';
import { axisUsd, chartUsd, count, percent, usd } from '../shared/money.js';
import { Figures, Money, Panel } from '../shared/parts.js';
import { RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import type { Column } from '../shared/table.js';
import { age, duration, When } from '../shared/time.js';
import { Providers, RunningDry } from './today-lists.js';
import { Waiting } from './today-waiting.js';

type Overview = Shape<'OverviewView'>;
type Hour = Shape<'HourOverview'>;

const READ_EVERY_MS = 10_000;
const READ = { everyMs: READ_EVERY_MS };

/** Whether it is well, and whether the books are right. */
export default function Today() {
  const { data, error } = useAnswer(['overview'], () => api.GET('/admin/overview'), READ);
  if (data === undefined) return <Unshown title="Today" error={error} />;
  return (
    <>
      <ScreenHead title="Today" answers="Is it well, and are the books right?" />
      <Books of={data} />
      <Waiting of={data} />
      <MoneyOfDay of={data} />
      <Health of={data} />
      <Panel title="Accounts that run dry">
        <RunningDry of={data.running_dry} />
      </Panel>
      <Panel title="Providers" aside={<Link href="/providers">How they do now</Link>}>
        <Providers of={data} />
      </Panel>
      <RawJson value={data} />
    </>
  );
}

const AUDITS = {
  right: ['good', 'The books are right'],
  wrong: ['bad', 'The books are wrong'],
  none: ['', 'No audit has ended yet'],
} as const;

function Books({ of: { audit, balances, holds } }: { readonly of: Overview }) {
  const [tone, words] = AUDITS[audit.ok === null ? 'none' : audit.ok ? 'right' : 'wrong'];
  const running = holds.calls + holds.tasks;
  return (
    <section class="stack" aria-label="The books">
      <div class={`notice ${tone}`}>
        <h2>{words}</h2>
        <p>
          {audit.finished_at === null ? (
            <>
              The first one runs within the hour after the start. Now: <code>npx shim audit</code>
            </>
          ) : (
            <>
              {audit.ok
                ? `All ledger entries were read. Their sum, ${usd(audit.entries_microusd)}, was that of all balances.`
                : 'The faults are told by npx shim audit --full.'}{' '}
              The last audit ended <When at={audit.finished_at} />
            </>
          )}
        </p>
      </div>
      <Figures
        of={[
          [
            'Posted',
            <Money microUsd={balances.posted_microusd} />,
            <Link href="/accounts">
              {balances.accounts === 1 ? '1 account' : `${count(balances.accounts)} accounts`}
            </Link>,
          ],
          [
            'Held',
            <Money microUsd={balances.held_microusd} />,
            running === 0
              ? 'Nothing runs'
              : `Calls: ${count(holds.calls)}, tasks: ${count(holds.tasks)}`,
          ],
          ['Available', <Money microUsd={balances.available_microusd} />, 'Posted less held'],
        ]}
      />
    </section>
  );
}

const HOURS: readonly Column<Hour>[] = [
  { head: 'Hour', cell: ({ hour }) => <When at={Date.parse(hour) / 1_000} /> },
  { head: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
  { head: 'Failed', isNumber: true, cell: ({ failures }) => count(failures) },
  {
    head: 'Charged',
    isNumber: true,
    cell: ({ charged_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Cost',
    isNumber: true,
    cell: ({ earned }) => <Money microUsd={earned.cost_microusd} />,
  },
  {
    head: 'Margin',
    isNumber: true,
    cell: ({ earned }) => <Money microUsd={earned.margin_microusd} />,
  },
  { head: 'p50', isNumber: true, cell: ({ latency_p50_ms: ms }) => duration(ms) },
  { head: 'p99', isNumber: true, cell: ({ latency_p99_ms: ms }) => duration(ms) },
];

const dollarsOf = (microUsd: string | null | undefined): number | null =>
  microUsd === null || microUsd === undefined ? null : chartUsd(microUsd);

/** The hours from the oldest to the one that runs. */
function useRising({ hours }: Overview): readonly Hour[] {
  return useMemo(() => hours.toReversed(), [hours]);
}

function MoneyOfDay({ of }: { readonly of: Overview }) {
  const rising = useRising(of);
  const chart = useMemo(
    () => ({
      times: rising.map(({ hour }) => Date.parse(hour) / 1_000),
      series: [
        { name: 'Charged', values: rising.map((hour) => chartUsd(hour.charged_microusd)) },
        { name: 'Cost', values: rising.map(({ earned }) => dollarsOf(earned.cost_microusd)) },
        { name: 'Margin', values: rising.map(({ earned }) => dollarsOf(earned.margin_microusd)) },
      ],
    }),
    [rising],
  );
  const { charged_microusd: charged, earned } = of.last_day;
  return (
    <Panel title="Money of the last 24 hours">
      <Figures
        of={[
          [
            'Charged',
            <Money microUsd={charged} />,
            <Link href="/usage?range=24h">By model and hour</Link>,
          ],
          [
            'Cost at providers',
            <Money microUsd={earned.cost_microusd} />,
            earned.cost_microusd === null ? 'Not known of every call' : undefined,
          ],
          [
            'Margin',
            <Money microUsd={earned.margin_microusd} />,
            <>
              {earned.margin_microusd === null && 'The cost of a call is unknown. '}
              <Link href="/margin?range=24h">By model and hour</Link>
            </>,
          ],
        ]}
      />
      <Chart
        name="Charged, cost and margin per hour"
        {...chart}
        format={axisUsd}
        columns={HOURS}
        rows={rising}
      />
    </Panel>
  );
}

const wholes = (value: number): string => (Number.isInteger(value) ? count(value) : '');

function Health({ of }: { readonly of: Overview }) {
  const rising = useRising(of);
  const chart = useMemo(
    () => ({
      times: rising.map(({ hour }) => Date.parse(hour) / 1_000),
      series: [
        { name: 'Calls', values: rising.map(({ calls }) => calls) },
        { name: 'Failed', values: rising.map(({ failures }) => failures) },
      ],
    }),
    [rising],
  );
  const { last_day: day, tasks, webhooks } = of;
  return (
    <Panel title="Work of the last 24 hours">
      <Figures
        of={[
          ['Calls', <Link href="/calls">{count(day.calls)}</Link>],
          [
            'Failed',
            <Link href="/calls?status=failed">{count(day.failures)}</Link>,
            day.calls === 0 ? undefined : percent(day.failures, day.calls),
          ],
          [
            'Half end within',
            duration(day.latency_p50_ms),
            <Link href="/usage?range=24h&metric=p99">
              99 % within {duration(day.latency_p99_ms)}
            </Link>,
          ],
          [
            'Tasks wait',
            age(tasks.lag_seconds),
            `${count(tasks.queued)} queued, ${count(tasks.processing)} at providers`,
          ],
          [
            'Webhooks wait',
            <Link href="/webhooks">{age(webhooks.lag_seconds)}</Link>,
            <Link href="/deliveries?status=pending">{count(webhooks.overdue)} are overdue</Link>,
          ],
        ]}
      />
      <Chart
        name="Calls and failures per hour"
        {...chart}
        format={wholes}
        columns={HOURS}
        rows={rising}
      />
    </Panel>
  );
}
