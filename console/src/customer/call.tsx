import { useParams } from 'wouter-preact';
import { api } from '../shared/api.js';
import { callMoments } from '../shared/call-moments.js';
import { Badge, Copy, Facts, Figures, Id, Money } from '../shared/parts.js';
import { Panel, RawJson, ScreenHead, Timeline, Unshown } from '../shared/parts.js';
import { PriceSum } from '../shared/price-sum.js';
import { useAnswer } from '../shared/queries.js';
import { duration, When } from '../shared/time.js';

const UNDER_WAY_MS = 2_000;

/** One synchronous call of the account, from its hold to its settlement. */
export default function Call() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['call', id],
    () => api.GET('/v1/executions/{id}', { params: { path: { id } } }),
    { everyMs: UNDER_WAY_MS, until: ({ status }) => status !== 'running' },
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            Call of {data.endpoint} on {data.model}: <Badge state={data.status} />{' '}
            <Copy text={data.id} what="the id" />
          </>
        }
      />
      <Figures
        of={[
          ['Held', <Money microUsd={data.held_microusd} />],
          ['Charged', <Money microUsd={data.charged_microusd} />],
          ['Given back', <Money microUsd={data.refunded_microusd} />],
          ['Took', duration(data.duration_ms), `First byte after ${duration(data.first_byte_ms)}`],
        ]}
      />
      <div class="columns">
        <Panel title="What happened">
          <Timeline of={callMoments(data)} />
        </Panel>
        <Panel title="The sum">
          <PriceSum
            lines={data.lines}
            charged={data.charged_microusd}
            priceBook={data.price_book}
            factorPermille={data.factor_permille}
            isCapped={data.capped}
            isEstimated={data.estimated === true}
          />
        </Panel>
      </div>
      <Panel title="Facts">
        <Facts
          of={[
            ['Began', <When at={data.created_at} />],
            ['Ended', <When at={data.completed_at} />],
            ['Client request id', <Id id={data.client_request_id} />],
            ["Provider's id", <Id id={data.provider_request_id} />],
            ['Run', data.run],
            [
              'Output cap',
              data.output_cap && `${data.output_cap} tokens, by ${data.output_cap_reason}`,
            ],
          ]}
        />
      </Panel>
      <RawJson value={data} />
    </>
  );
}
