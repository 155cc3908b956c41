import { useState } from 'preact/hooks';
import { answerOf, api, type Shape } from '../shared/api.js';
import { KEY_COLUMNS } from '../shared/key-columns.js';
import { IssuedKey, RevokeKey, RotateKey } from '../shared/key-fields.js';
import { Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { ChangeKey, NewAccountKey } from './key-terms.js';

type Key = Shape<'ApiKeyView'>;
type Issued = (key: string) => void;

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
      <IssuedKey issued={issued} />
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

function KeyActs({ of: old, onIssued }: { readonly of: Key; readonly onIssued: Issued }) {
  if (old.revoked_at !== null) return null;
  const params = { path: { id: old.id } };
  const replace = async (overlapSeconds: number) => {
    const body = { overlap_seconds: overlapSeconds };
    const { key } = await answerOf(api.POST('/admin/keys/{id}/rotate', { params, body }));
    onIssued(key);
  };
  return (
    <div class="acts">
      <ChangeKey of={old} />
      <RotateKey
        of={old}
        note="The keys that the old one made belong to the new one."
        replace={replace}
      />
      <RevokeKey of={old} revoke={() => answerOf(api.DELETE('/admin/keys/{id}', { params }))} />
    </div>
  );
}
