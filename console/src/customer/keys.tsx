import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { stateOf } from '../shared/key-columns.js';
import { microUsdOf } from '../shared/money.js';
import { Copy, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useSession } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { OWN_KEY_COLUMNS } from './own-key-columns.js';

type Key = Shape<'ApiKeyView'>;
type Scope = Key['scopes'][number];
type Issued = (key: string) => void;

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['read', 'read: see calls, usage and balance'],
  ['call', 'call: spend money'],
  ['manage', 'manage: make keys and webhooks'],
];
const OVERLAPS: readonly (readonly [number, string])[] = [
  [0, 'at once'],
  [3_600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
];

/** The keys of the account: who may spend what. */
export default function Keys() {
  const { scopes, reads_only: readsOnly, key_id: ownId } = useSession();
  const [issued, setIssued] = useState<string>();
  const pages = usePages(['keys'], (cursor) =>
    api.GET('/v1/keys', { params: { query: cursor === undefined ? {} : { cursor } } }),
  );
  const mayManage = !readsOnly && scopes.includes('manage');
  const acts: readonly Column<Key>[] = mayManage
    ? [{ head: 'Acts', cell: (key) => <Acts of={key} ownId={ownId} onIssued={setIssued} /> }]
    : [];
  return (
    <>
      <ScreenHead title="Keys" answers="Who may spend what?">
        {mayManage && <NewKey onIssued={setIssued} />}
      </ScreenHead>
      {issued !== undefined && (
        <div class="notice good" role="status">
          <p>The new key. It is shown only here, and only now:</p>
          <p>
            <span class="mono">{issued}</span> <Copy text={issued} what="the key" />
          </p>
        </div>
      )}
      {!mayManage && (
        <p class="soft">To make or change keys, sign in with a key of scope manage.</p>
      )}
      <Panel title="Keys">
        <PagedTable
          name="Keys"
          columns={[...OWN_KEY_COLUMNS, ...acts]}
          pages={pages}
          empty="This account has made no key. The operator's first key does not stand here."
        />
      </Panel>
    </>
  );
}

function NewKey({ onIssued }: { readonly onIssued: Issued }) {
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('');
  const [models, setModels] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['read', 'call']);
  const run = async () => {
    const amount = microUsdOf(limit);
    const allowed = models.split(/[\s,]+/).filter((model) => model !== '');
    const body: Shape<'CreateKeyBody'> = {
      scopes: [...chosen],
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(allowed.length > 0 && { allowed_models: allowed }),
      ...(amount !== undefined && {
        spend_limit_microusd: amount.toString(),
        spend_limit_period: 'month' as const,
      }),
    };
    const { key } = await answerOf(api.POST('/v1/keys', { body }));
    onIssued(key);
    setName('');
    return 'The key was made. Copy it now: it is shown only once.';
  };
  return (
    <Act label="New key" title="Make a key" isMain run={run}>
      <Line label="Name" value={name} onInput={setName} />
      <Line
        label="Most dollars per month"
        value={limit}
        onInput={setLimit}
        pattern="[0-9]{1,12}([.][0-9]{1,6})?"
        hint="Empty: no limit but that of your own key and the balance."
      />
      <Line label="Models" value={models} onInput={setModels} hint="Ids with commas. Empty: all." />
      <fieldset>
        <legend>May</legend>
        {SCOPES.map(([scope, words]) => (
          <label class="row">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
              }
            />
            <span>{words}</span>
          </label>
        ))}
      </fieldset>
    </Act>
  );
}

function Line(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  readonly pattern?: string;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="text"
        maxLength={200}
        pattern={props.pattern}
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.hint !== undefined && <small>{props.hint}</small>}
    </label>
  );
}

/** A key changes only those that it made. */
function Acts(props: {
  readonly of: Key;
  readonly ownId: string | null;
  readonly onIssued: Issued;
}) {
  const { of: key, ownId, onIssued } = props;
  if (key.id === ownId) return <span class="soft">signed in with it</span>;
  if (key.made_by !== ownId) return <span class="soft">made by somebody else</span>;
  if (stateOf(key) !== 'active') return null;
  return (
    <span class="row-acts">
      <Rotate of={key} onIssued={onIssued} />
      <Revoke of={key} />
    </span>
  );
}

/** A new key with the same terms first, then the end of the old one: no moment is without a key. */
function Rotate({ of: old, onIssued }: { readonly of: Key; readonly onIssued: Issued }) {
  const [overlapSeconds, setOverlap] = useState(86_400);
  const run = async () => {
    const { key } = await answerOf(api.POST('/v1/keys', { body: termsOf(old) }));
    onIssued(key);
    const overlapEnd = Math.ceil(Date.now() / 1_000) + overlapSeconds;
    // A key that ends sooner by itself does not live longer by being replaced.
    const end = Math.min(overlapEnd, old.expires_at ?? overlapEnd);
    const params = { path: { id: old.id } };
    await answerOf(
      overlapSeconds === 0
        ? api.DELETE('/v1/keys/{id}', { params })
        : api.PATCH('/v1/keys/{id}', { params, body: { expires_at: end } }),
    );
    return 'Copy the new key now: it is shown only once. The time at which the old one ends stands in the list.';
  };
  return (
    <Act label="Rotate" title="Replace the key" run={run}>
      <p>
        A new key with the same terms is made. What <strong>{old.name ?? old.id}</strong> has spent
        does not count against the limit of the new one.
      </p>
      <label class="field">
        <span>The old key ends</span>
        <select
          value={overlapSeconds}
          onChange={(event) => setOverlap(Number(event.currentTarget.value))}
        >
          {OVERLAPS.map(([seconds, words]) => (
            <option value={seconds}>{words}</option>
          ))}
        </select>
      </label>
    </Act>
  );
}

function termsOf(key: Key): Shape<'CreateKeyBody'> {
  return {
    scopes: key.scopes,
    ...(key.name !== null && { name: key.name }),
    ...(key.expires_at !== null && { expires_at: key.expires_at }),
    ...(key.allowed_models !== null && { allowed_models: key.allowed_models }),
    ...(key.requests_per_minute !== null && { requests_per_minute: key.requests_per_minute }),
    ...(key.spend_limit_microusd !== null && {
      spend_limit_microusd: key.spend_limit_microusd,
      spend_limit_period: key.spend_limit_period ?? 'month',
    }),
  };
}

function Revoke({ of: key }: { readonly of: Key }) {
  const run = async () => {
    await answerOf(api.DELETE('/v1/keys/{id}', { params: { path: { id: key.id } } }));
    return 'The key is revoked. It is refused everywhere within 2 seconds.';
  };
  return (
    <Act label="Revoke" title="Revoke the key" isDangerous run={run}>
      <p>
        The key <strong>{key.name ?? key.id}</strong> is refused within 2 seconds, for good. What
        runs ends as usual.
      </p>
    </Act>
  );
}
