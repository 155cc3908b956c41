import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { WordField } from '../shared/fields.js';
import { stateOf } from '../shared/key-columns.js';
import {
  IssuedKey,
  modelsIn,
  RevokeKey,
  RotateKey,
  ScopeFields,
  USUAL_SCOPES,
} from '../shared/key-fields.js';
import { DOLLARS, microUsdOf } from '../shared/money.js';
import { Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMayManage, useSession } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { OWN_KEY_COLUMNS } from './own-key-columns.js';

type Key = Shape<'ApiKeyView'>;
type Issued = (key: string) => void;

/** The keys of the account: who may spend what. */
export default function Keys() {
  const [issued, setIssued] = useState<string>();
  const mayManage = useMayManage();
  return (
    <>
      <ScreenHead title="Keys" answers="Who may spend what?">
        {mayManage && <NewKey onIssued={setIssued} />}
      </ScreenHead>
      <IssuedKey issued={issued} />
      {!mayManage && <p class="soft">To see or change keys, sign in with a key of scope manage.</p>}
      {mayManage && <KeyList onIssued={setIssued} />}
    </>
  );
}

function KeyList({ onIssued }: { readonly onIssued: Issued }) {
  const { key_id: ownId } = useSession();
  const pages = usePages(['keys'], (cursor) =>
    api.GET('/v1/keys', { params: { query: cursor === undefined ? {} : { cursor } } }),
  );
  const acts: Column<Key> = {
    head: 'Acts',
    cell: (key) => <Acts of={key} ownId={ownId} onIssued={onIssued} />,
  };
  return (
    <Panel title="Keys">
      <PagedTable
        name="Keys"
        columns={[...OWN_KEY_COLUMNS, acts]}
        pages={pages}
        empty="This account has made no key. The operator's first key does not stand here."
      />
    </Panel>
  );
}

function NewKey({ onIssued }: { readonly onIssued: Issued }) {
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('');
  const [models, setModels] = useState('');
  const [chosen, setChosen] = useState(USUAL_SCOPES);
  const run = async () => {
    const amount = microUsdOf(limit);
    const allowed = modelsIn(models);
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
      <WordField label="Name" value={name} onInput={setName} />
      <WordField
        label="Most dollars per month"
        value={limit}
        onInput={setLimit}
        pattern={DOLLARS}
        hint="Empty: no limit but that of your own key and the balance."
      />
      <WordField
        label="Models"
        value={models}
        onInput={setModels}
        most={100_000}
        hint="Ids with commas. Empty: all."
      />
      <ScopeFields chosen={chosen} onChange={setChosen} />
    </Act>
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
      <RotateKey
        of={key}
        note="What it has spent does not count against the limit of the new one."
        replace={(overlapSeconds) => replace(key, overlapSeconds, onIssued)}
      />
      <RevokeKey
        of={key}
        revoke={() => answerOf(api.DELETE('/v1/keys/{id}', { params: { path: { id: key.id } } }))}
      />
    </span>
  );
}

/** A new key with the same terms first, then the end of the old one: no moment is without a key. */
async function replace(old: Key, overlapSeconds: number, onIssued: Issued): Promise<void> {
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
