import { api } from '../shared/api.js';
import { usd } from '../shared/money.js';
import { Empty, Facts, Id, Loading, Problem, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { age, When } from '../shared/time.js';
import { Decide } from './decide-acts.js';
import { type AnyTask, createdOf, heldOf } from '../shared/task-parts.js';

const READ_EVERY_MS = 15_000;

/** Tasks whose outcome nobody knows, with what is known, and how to decide each. */
export default function ToDecide() {
  const pages = usePages(
    ['tasks', 'to decide'],
    (cursor) =>
      api.GET('/admin/tasks', {
        params: {
          query: { status: 'reconciliation_required', ...(cursor !== undefined && { cursor }) },
        },
      }),
    READ_EVERY_MS,
  );
  const { rows } = pages;
  return (
    <>
      <ScreenHead
        title="To decide"
        answers="Which outcomes are unknown, how old, and how much? Their money stays held until a person decides."
      />
      {rows === undefined &&
        (pages.error === undefined ? <Loading /> : <Problem error={pages.error} />)}
      {rows?.length === 0 && (
        <div class="panel">
          <Empty command="npm run cli -- tasks --status reconciliation_required">
            No outcome is unknown. The same list on the command line:
          </Empty>
        </div>
      )}
      {rows?.map((task) => (
        <Unknown task={task} key={task.id} />
      ))}
      {pages.hasMore && (
        <div>
          <button type="button" onClick={pages.more} disabled={pages.isLoadingMore}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

function Unknown({ task }: { readonly task: AnyTask }) {
  const seen = task.provider_evidence;
  const waited = Math.max(0, Date.now() / 1_000 - createdOf(task));
  return (
    <section class="panel" aria-label={task.id}>
      <div class="panel-head">
        <h2>
          {usd(heldOf(task) ?? '0')} held for {age(waited)}
        </h2>
        <Id id={task.id} to={`/tasks/${task.id}`} />
      </div>
      <div class="dense">
        <Facts
          of={[
            ['Account', <Id id={task.account_id} to={`/accounts/${task.account_id}`} />],
            ['Ordered', task.model],
            ['Submitted', <When at={createdOf(task)} />],
            ['Sent to', `${task.route.provider} · ${task.route.upstream_model}`],
            ['Look there for', <Id id={task.provider_job_id} />],
            [
              'It last said',
              seen === null ? (
                'nothing that can be read'
              ) : (
                <>
                  {seen.status} <When at={seen.seen_at} />
                </>
              ),
            ],
            ['In its own words', task.unknown_state],
          ]}
        />
      </div>
      <div class="row">
        <Decide task={task} />
      </div>
    </section>
  );
}
