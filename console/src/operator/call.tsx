import { useParams } from 'wouter-preact';
import { answerOf, api, reasonHeader, type Shape } from '../shared/api.js';
import { callMoments } from '../shared/call-moments.js';
import { Badge, Copy, Facts, Figures, Id, Money } from '../shared/parts.js';
import { Panel, RawJson, ScreenHead, Timeline, Unshown } from '../shared/parts.js';
import { PriceSum } from '../shared/price-sum.js';
import { useAnswer } from '../shared/queries.js';
import { duration, When } from '../shared/time.js';
import { attemptMoments, Attempts } from './attempts.js';
import { RefundAct } from './refund-act.js';

type Execution = Shape<'AdminExecutionView'>;
const UNDER_WAY_MS = 2_000;

/** One synchronous call, from its hold to its settlement. */
export default function Call() {
  const { id } = useParams<{ id: string }>();
  const key = ['call', id];
  const { data, error } = useAnswer(
    key,
    () => api.GET('/admin/executions/{id}', { params: { path: { id } } }),
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
      >
        <RefundAct
          key={data.id}
          left={BigInt(data.charged_microusd ?? 0) - BigInt(data.refunded_microusd ?? 0)}
          refund={(body, { reason, idempotencyKey }) =>
            answerOf(
              api.POST('/admin/executions/{id}/refund', {
                params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
                body,
                headers: reasonHeader(reason),
              }),
            )
          }
        />
      </ScreenHead>
      <CallFigures of={data} />
      <div class="columns">
        <Panel title="What happened">
          <Timeline of={callMoments(data, attemptMoments(data.attempts))} />
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
      <Panel title="Attempts at providers">
        <Attempts of={data.attempts} />
      </Panel>
      <Panel title="Facts">
        <CallFacts of={data} />
      </Panel>
      <RawJson value={data} />
    </>
  );
}

function CallFigures({ of: call }: { readonly of: Execution }) {
  return (
    <Figures
      of={[
        ['Held', <Money microUsd={call.held_microusd} />],
        ['Charged', <Money microUsd={call.charged_microusd} />],
        ['Given back', <Money microUsd={call.refunded_microusd} />],
        ['Cost at the provider', <Money microUsd={call.cost_microusd} />],
        ['Took', duration(call.duration_ms), `First byte after ${duration(call.first_byte_ms)}`],
      ]}
    />
  );
}

function CallFacts({ of: call }: { readonly of: Execution }) {
  const { provider_error: refusal } = call;
  return (
    <Facts
      of={[
        ['Account', <Id id={call.account_id} to={`/accounts/${call.account_id}`} />],
        ['Key', <Id id={call.api_key_id} />],
        ['Began', <When at={call.created_at} />],
        ['Ended', <When at={call.completed_at} />],
        ['Route', call.route && `${call.route.provider} · ${call.route.upstream_model}`],
        ["Provider's id", <Id id={call.provider_request_id} />],
        ['Client request id', <Id id={call.client_request_id} />],
        ['Run', call.run],
        [
          "Provider's refusal",
          refusal && `${refusal.status ?? ''} ${refusal.code ?? ''} ${refusal.message ?? ''}`,
        ],
        ["Provider's figures", call.provider_figures && JSON.stringify(call.provider_figures)],
        [
          'Output cap',
          call.output_cap && `${call.output_cap} tokens, by ${call.output_cap_reason}`,
        ],
      ]}
    />
  );
}
