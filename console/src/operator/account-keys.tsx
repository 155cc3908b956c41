import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { KEY_COLUMNS } from '../shared/key-columns.js';
import { Copy, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { ChoiceField } from './fields.js';
import { ChangeKey, NewAccountKey } from './key-terms.js';

type Key = Shape<'ApiKeyView'>;
type Issued = (key: string) => void;

const OVERLAPS: readonly (readonly [string, string])[] = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
  ['604800', 'in a week'],
];

/** The keys of an account. */
export function AccountKeys({ accountId }: { readonly accountId: string }) {
  const [issued, setIssued] = useState<string>();
  const mayChange = useMay('support');
  const pages = usePages(['keys', accountId], (cursor) =>
    api.GET('/admin/accounts/{id}/keys', {
      params: { path: { id: accountId }, query: { ...(cursor !== undefined && { cursor }) } },
    }),
  );
  const acts: readonly Column<Key>[] = mayChange
    ? [{ head: 'Acts', cell: (key) => <KeyActs of={key} onIssued={setIssued} /> }]
    : [];
  return (
    <Panel
      title="Keys and limits"
      aside={<NewAccountKey accountId={accountId} onIssued={setIssued} />}
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
        columns={[...KEY_COLUMNS, ...acts]}
        pages={pages}
        empty="This account has no key, so that nobody can call for it. Make one here, or:"
        command={`npm run cli -- key:create ${accountId}`}
      />
    </Panel>
  );
}

function KeyActs({ of: key, onIssued }: { readonly of: Key; readonly onIssued: Issued }) {
  if (key.revoked_at !== null) return null;
  return (
    <div class="acts">
      <ChangeKey of={key} />
      <Rotate of={key} onIssued={onIssued} />
      <Revoke of={key} />
    </div>
  );
}

function Rotate({ of: old, onIssued }: { readonly of: Key; readonly onIssued: Issued }) {
  const [overlap, setOverlap] = useState('86400');
  const run = async () => {
    const { key } = await answerOf(
      api.POST('/admin/keys/{id}/rotate', {
        params: { path: { id: old.id } },
        body: { overlap_seconds: Number(overlap) },
      }),
    );
    onIssued(key);
    return 'Copy the new key now: it is shown only once. The time at which the old one ends stands in the list.';
  };
  return (
    <Act label="Rotate" title="Replace the key" run={run}>
      <p>
        A new key with the same terms takes the place of <strong>{old.name ?? old.id}</strong>. The
        keys that the old one made belong to the new one.
      </p>
      <ChoiceField
        label="The old key ends"
        value={overlap}
        choices={OVERLAPS}
        onChoose={setOverlap}
      />
    </Act>
  );
}

function Revoke({ of: key }: { readonly of: Key }) {
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
