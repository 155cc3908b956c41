import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { ChoiceField, WordField } from '../shared/fields.js';
import { type KeyScope, modelsIn, ScopeFields, USUAL_SCOPES } from '../shared/key-fields.js';
import { DOLLARS, microUsdOf, typedUsd } from '../shared/money.js';
import { useMay } from '../shared/session.js';
import { localMoment, secondsOf } from '../shared/time.js';

type Key = Shape<'ApiKeyView'>;
type Body = Shape<'CreateKeyBody'>;
type Period = NonNullable<Body['spend_limit_period']>;

const PERIODS: readonly (readonly [Period, string])[] = [
  ['day', 'each day (UTC)'],
  ['month', 'each month (UTC)'],
  ['total', 'its whole life'],
];

/** The terms of a key as they stand in the fields. */
interface Terms {
  readonly name: string;
  readonly limit: string;
  readonly period: Period;
  readonly perMinute: string;
  readonly models: string;
  readonly expires: string;
  readonly scopes: readonly KeyScope[];
}

const NEW_KEY: Terms = {
  ...{ name: '', limit: '', period: 'month', perMinute: '', models: '', expires: '' },
  scopes: USUAL_SCOPES,
};

const termsOf = (key: Key): Terms => ({
  name: key.name ?? '',
  limit: key.spend_limit_microusd === null ? '' : typedUsd(key.spend_limit_microusd),
  period: key.spend_limit_period ?? 'month',
  perMinute: String(key.requests_per_minute ?? ''),
  models: key.allowed_models?.join(', ') ?? '',
  expires: key.expires_at === null ? '' : localMoment(key.expires_at),
  scopes: key.scopes,
});

/** The fields of the API; null: nothing stands in the field. */
function fieldsOf(terms: Terms): { readonly [Name in keyof Body]-?: Body[Name] | null } {
  const limit = microUsdOf(terms.limit);
  const models = modelsIn(terms.models);
  return {
    name: terms.name.trim() || null,
    spend_limit_microusd: limit?.toString() ?? null,
    spend_limit_period: limit === undefined ? null : terms.period,
    requests_per_minute: terms.perMinute === '' ? null : Number(terms.perMinute),
    allowed_models: models.length === 0 ? null : models,
    expires_at: secondsOf(terms.expires) ?? null,
    scopes: [...terms.scopes],
  };
}

/** What a new key is made with: fields without a value are left out. */
const filled = (terms: Terms): Body =>
  Object.fromEntries(Object.entries(fieldsOf(terms)).filter(([, value]) => value !== null));

/** What differs from before; null clears a field. */
function changed(before: Terms, terms: Terms): Body {
  const [former, now] = [fieldsOf(before), fieldsOf(terms)];
  const differs = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(former[name as keyof Body]),
  );
  return Object.fromEntries(differs);
}

function Fields(props: { readonly of: Terms; readonly onChange: (terms: Terms) => void }) {
  const { of: terms, onChange } = props;
  const set = (name: keyof Terms) => (value: string) => onChange({ ...terms, [name]: value });
  return (
    <>
      <WordField label="Name" value={terms.name} onInput={set('name')} />
      <WordField
        label="Most dollars"
        value={terms.limit}
        onInput={set('limit')}
        pattern={DOLLARS}
        hint="Empty: no limit but the balance."
      />
      <ChoiceField
        label="They count for"
        value={terms.period}
        choices={PERIODS}
        onChoose={set('period')}
      />
      <WordField
        label="Most requests per minute"
        value={terms.perMinute}
        onInput={set('perMinute')}
        pattern="[1-9][0-9]{0,6}"
        hint="Empty: the default of the gateway."
      />
      <WordField
        label="Models"
        value={terms.models}
        onInput={set('models')}
        most={100_000}
        hint="Ids with commas. Empty: all."
      />
      <WordField
        label="Expires"
        type="datetime-local"
        value={terms.expires}
        onInput={set('expires')}
        hint="In your time zone. Empty: never."
      />
      <ScopeFields chosen={terms.scopes} onChange={(scopes) => onChange({ ...terms, scopes })} />
    </>
  );
}

/** Makes a key for an account; nothing for who may not. */
export function NewAccountKey(props: {
  readonly accountId: string;
  readonly onIssued: (key: string) => void;
}) {
  const mayMake = useMay('support');
  const [terms, setTerms] = useState(NEW_KEY);
  if (!mayMake) return null;
  const run = async () => {
    const { key } = await answerOf(
      api.POST('/admin/accounts/{id}/keys', {
        params: { path: { id: props.accountId } },
        body: filled(terms),
      }),
    );
    props.onIssued(key);
    setTerms(NEW_KEY);
    return 'The key was made. Copy it now: it is shown only once.';
  };
  return (
    <Act label="New key" title="Make a key" run={run}>
      <Fields of={terms} onChange={setTerms} />
    </Act>
  );
}

/** Changes the terms of a key. */
export function ChangeKey({ of }: { readonly of: Key }) {
  const before = termsOf(of);
  // The fields begin anew with what the key has by now.
  return <Changer key={JSON.stringify(before)} id={of.id} before={before} />;
}

function Changer({ id, before }: { readonly id: string; readonly before: Terms }) {
  const [terms, setTerms] = useState(before);
  const run = async () => {
    const body = changed(before, terms);
    await answerOf(api.PATCH('/admin/keys/{id}', { params: { path: { id } }, body }));
    return 'The terms of the key hold everywhere within 2 seconds.';
  };
  return (
    <Act label="Change" title="Change the terms of the key" run={run}>
      <Fields of={terms} onChange={setTerms} />
    </Act>
  );
}
