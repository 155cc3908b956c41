import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { KEY_COLUMNS } from '../shared/key-columns.js';
import { microUsdOf } from '../shared/money.js';
import { Copy, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';

type Key = Shape<'ApiKeyView'>;

const COLUMNS: readonly Column<Key>[] = [
  ...KEY_COLUMNS,
  { head: 'Act', cell: (key) => <Revoke of={key} /> },
];

function Revoke({ of: key }: { readonly of: Key }) {
  const mayRevoke = useMay('support');
  if (key.revoked_at !== null || !mayRevoke) return null;
  const run = async () => {
    await answerOf(api.DELETE('/admin/keys/{id}', { params: { path: { id: key.id } } }));
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

/** The keys of an account. */
export function AccountKeys({ accountId }: { readonly accountId: string }) {
  const [issued, setIssued] = useState<string>();
  const mayMake = useMay('support');
  const pages = usePages(['keys', accountId], (cursor) =>
    api.GET('/admin/accounts/{id}/keys', {
      params: { path: { id: accountId }, query: { ...(cursor !== undefined && { cursor }) } },
    }),
  );
  return (
    <Panel
      title="Keys and limits"
      aside={mayMake && <NewKey accountId={accountId} onIssued={setIssued} />}
    >
      {issued !== undefined && (
        <div class="notice good" role="status">
          <p>The new key. It is shown only here, and only now:</p>
          <p>
            <span class="mono">{issued}</span> <Copy text={issued} what="the key" />
          </p>
        </div>
      )}
      <PagedTable
        name="Keys"
        columns={COLUMNS}
        pages={pages}
        empty="This account has no key, so that nobody can call for it. Make one here, or:"
        command={`npm run cli -- key:create ${accountId}`}
      />
    </Panel>
  );
}

function NewKey(props: { readonly accountId: string; readonly onIssued: (key: string) => void }) {
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('');
  const amount = microUsdOf(limit);
  const run = async () => {
    const { key } = await answerOf(
      api.POST('/admin/accounts/{id}/keys', {
        params: { path: { id: props.accountId } },
        body: {
          ...(name.trim() !== '' && { name: name.trim() }),
          ...(amount !== undefined && {
            spend_limit_microusd: amount.toString(),
            spend_limit_period: 'month' as const,
          }),
        },
      }),
    );
    props.onIssued(key);
    return 'The key was made. Copy it now: it is shown only once.';
  };
  return (
    <Act label="New key" title="Make a key" run={run}>
      <label class="field">
        <span>Name</span>
        <input
          type="text"
          maxLength={200}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Most dollars per month</span>
        <input
          type="text"
          inputMode="decimal"
          pattern="[0-9]+([.][0-9]{1,6})?"
          value={limit}
          onInput={(event) => setLimit(event.currentTarget.value)}
        />
        <small>Empty: no limit but the balance.</small>
      </label>
    </Act>
  );
}
