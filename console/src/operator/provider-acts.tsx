import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { ChoiceField, WordField } from '../shared/fields.js';
import { Problem } from '../shared/parts.js';
import { endSessionOn } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { HOUR_S, duration, localMoment, secondsOf } from '../shared/time.js';

type Provider = Shape<'ProviderView'>;
type Probed = Shape<'ProbeView'>;

/** What is paused or probed: a route, or all of a provider. */
export interface Target {
  readonly provider: string;
  /** Null: the provider. */
  readonly route: string | null;
  readonly paused: Provider['paused'];
}

const AT_A_TIME = 'at';
const LENGTHS: readonly (readonly [string, string])[] = [
  ['900', 'in 15 minutes'],
  ['3600', 'in an hour'],
  ['14400', 'in 4 hours'],
  ['86400', 'in a day'],
  ['604800', 'in a week'],
  [AT_A_TIME, 'at a time'],
];

const nameOf = ({ provider, route }: Target): string =>
  route === null ? `${provider}, all its routes` : `${provider} · ${route}`;

/** Pausing or resuming, for who may. */
export function PauseAct({ of: target }: { readonly of: Target }) {
  const mayPause = useMay('admin');
  if (!mayPause) return null;
  return target.paused === null ? <Pause of={target} /> : <Resume of={target} />;
}

function Pause({ of: target }: { readonly of: Target }) {
  const [reason, setReason] = useState('');
  const [length, setLength] = useState(String(HOUR_S));
  const [end, setEnd] = useState(() => localMoment(Date.now() / 1_000 + HOUR_S));
  const run = async () => {
    const { provider, route } = target;
    const until =
      length === AT_A_TIME ? secondsOf(end) : Math.ceil(Date.now() / 1_000) + Number(length);
    const body = { reason: reason.trim(), ...(until !== undefined && { expires_at: until }) };
    await answerOf(
      route === null
        ? api.POST('/admin/providers/{provider}/pause', { params: { path: { provider } }, body })
        : api.POST('/admin/providers/{provider}/{route}/pause', {
            params: { path: { provider, route } },
            body,
          }),
    );
    return `${nameOf(target)}: paused. Every process knows it within seconds.`;
  };
  return (
    <Act label="Pause" title={`Pause ${nameOf(target)}`} isDangerous run={run}>
      <p>
        New calls and tasks go to the next route of their model. A model without another route
        answers 503 before anything is held. What runs goes on.
      </p>
      <WordField
        label="Reason"
        value={reason}
        onInput={setReason}
        isRequired
        most={500}
        hint="Other operators see it beside the pause."
      />
      <ChoiceField label="It ends" value={length} choices={LENGTHS} onChoose={setLength} />
      {length === AT_A_TIME && (
        <WordField
          label="End"
          type="datetime-local"
          value={end}
          onInput={setEnd}
          isRequired
          hint="In your time zone, at most 30 days ahead."
        />
      )}
    </Act>
  );
}

function Resume({ of: target }: { readonly of: Target }) {
  const run = async () => {
    const { provider, route } = target;
    await answerOf(
      route === null
        ? api.DELETE('/admin/providers/{provider}/pause', { params: { path: { provider } } })
        : api.DELETE('/admin/providers/{provider}/{route}/pause', {
            params: { path: { provider, route } },
          }),
    );
    return `${nameOf(target)}: the pause has ended.`;
  };
  return (
    <Act label="Resume" title={`End the pause of ${nameOf(target)}`} run={run}>
      <p>Work goes there again within seconds.</p>
    </Act>
  );
}

/** A button that asks the provider whether it answers; what came stands below it. */
export function Probe({ of: { provider, route } }: { readonly of: Target }) {
  const mayProbe = useMay('admin');
  const [isAsking, setAsking] = useState(false);
  const [answer, setAnswer] = useState<Probed>();
  const [error, setError] = useState<unknown>();
  if (!mayProbe) return null;
  const ask = async () => {
    setAsking(true);
    setError(undefined);
    setAnswer(undefined);
    try {
      setAnswer(
        await answerOf(
          route === null
            ? api.POST('/admin/providers/{provider}/probe', { params: { path: { provider } } })
            : api.POST('/admin/providers/{provider}/{route}/probe', {
                params: { path: { provider, route } },
              }),
        ),
      );
    } catch (problem) {
      endSessionOn(problem);
      setError(problem);
    }
    setAsking(false);
  };
  return (
    <>
      <button type="button" onClick={() => void ask()} disabled={isAsking}>
        {isAsking ? 'Asking…' : 'Probe'}
        {route !== null && <span class="only-read"> {route}</span>}
      </button>
      {error !== undefined && <Problem error={error} />}
      {answer !== undefined && <ProbeAnswer of={answer} />}
    </>
  );
}

function ProbeAnswer({ of: answer }: { readonly of: Probed }) {
  const { ok, outcome, duration_ms: took, status, code, message } = answer;
  const words = ok
    ? [`It answered in ${duration(took)} and took the key.`, modelWordsOf(answer)]
    : [
        `${outcome.replaceAll('_', ' ')} after ${duration(took)}`,
        status === null ? null : `HTTP ${status}`,
        code,
        message,
      ];
  return (
    <p class={`notice ${ok ? 'good' : 'bad'}`} role="status">
      {words.filter((word) => word !== null).join(ok ? ' ' : ', ')}
    </p>
  );
}

function modelWordsOf({ upstream_model: model, knows_model: knows }: Probed): string | null {
  if (model === null) return null;
  if (knows === null) return `Its list does not say whether it has ${model}.`;
  return knows ? `It lists ${model}.` : `It does not list ${model}.`;
}
