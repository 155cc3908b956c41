import { useState } from 'preact/hooks';
import { Act } from './act.js';
import type { Shape } from './api.js';
import { ChoiceField } from './fields.js';
import { Copy } from './parts.js';

type Key = Shape<'ApiKeyView'>;

/** What a key may do. */
export type KeyScope = Key['scopes'][number];

/** The scopes that a new key has unless others are chosen. */
export const USUAL_SCOPES: readonly KeyScope[] = ['read', 'call'];

const SCOPES: readonly (readonly [KeyScope, string])[] = [
  ['read', 'read: see calls, usage and balance'],
  ['call', 'call: spend money'],
  ['manage', 'manage: make keys and webhooks'],
];
const OVERLAPS: readonly (readonly [string, string])[] = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
  ['604800', 'in a week'],
];

/** The ids of models in a field. */
export const modelsIn = (typed: string): string[] =>
  typed.split(/[\s,]+/).filter((model) => model !== '');

/** A box to tick for each scope. */
export function ScopeFields(props: {
  readonly chosen: readonly KeyScope[];
  readonly onChange: (chosen: readonly KeyScope[]) => void;
}) {
  const { chosen, onChange } = props;
  const scopes = SCOPES.map(([scope]) => scope);
  return (
    <fieldset>
      <legend>May</legend>
      {SCOPES.map(([scope, words]) => (
        <label class="row">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(scopes.filter((one) => (one === scope ? checked : chosen.includes(one))))
            }
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A key that was made, which is shown once. */
export function IssuedKey({ issued }: { readonly issued: string | undefined }) {
  if (issued === undefined) return null;
  return (
    <div class="notice good" role="status">
      <p>The new key. It is shown only here, and only now:</p>
      <p>
        <span class="mono">{issued}</span> <Copy text={issued} what="the key" />
      </p>
    </div>
  );
}

/** Replaces a key. `replace` makes the new one and shows it, and ends the old one after so many seconds. */
export function RotateKey(props: {
  readonly of: Key;
  /** What happens besides, in words. */
  readonly note: string;
  readonly replace: (overlapSeconds: number) => Promise<void>;
}) {
  const { of: old, note, replace } = props;
  const [overlap, setOverlap] = useState('86400');
  const run = async () => {
    await replace(Number(overlap));
    return 'Copy the new key now: it is shown only once. The time at which the old one ends stands in the list.';
  };
  return (
    <Act label="Rotate" title="Replace the key" run={run}>
      <p>
        A new key with the same terms takes the place of <strong>{old.name ?? old.id}</strong>.{' '}
        {note}
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

/** Ends a key for good. */
export function RevokeKey(props: { readonly of: Key; readonly revoke: () => Promise<unknown> }) {
  const { of: key, revoke } = props;
  const run = async () => {
    await revoke();
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
