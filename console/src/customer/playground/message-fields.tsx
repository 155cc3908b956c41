import type { ComponentChildren } from 'preact';
import type { FieldDraft, Drafts, FormField } from './fields.js';

interface Turn {
  readonly role: string;
  readonly content: string;
}

interface MessageFieldsProps {
  readonly field: FormField;
  readonly drafts: Drafts;
  readonly onDraft: (name: string, draft: FieldDraft | undefined) => void;
  readonly about: ComponentChildren;
  /** The field as JSON, for what is no plain conversation. */
  readonly raw: ComponentChildren;
  readonly rawId: string;
}

const ROLES = ['user', 'assistant', 'system'] as const;

/** The turns of a conversation of texts alone; undefined for another, or for no JSON. */
function turnsIn(draft: FieldDraft | undefined): readonly Turn[] | undefined {
  if (typeof draft !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(draft);
    return Array.isArray(value) && value.every(isTurn) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTurn(value: unknown): value is Turn {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content, ...others } = value as Record<string, unknown>;
  const isPlain = typeof content === 'string' && Object.keys(others).length === 0;
  return isPlain && ROLES.some((one) => one === role);
}

/** The messages of a chat: who says what. With pictures, tools or parts they are shown as JSON. */
export function MessageFields(props: MessageFieldsProps) {
  const { field, drafts, onDraft, about, raw, rawId } = props;
  const turns = turnsIn(drafts[field.name]);
  if (turns === undefined) {
    return (
      <div class="field">
        <label for={rawId}>
          <span class="mono">{field.name}</span> <span class="soft">required, JSON</span>
        </label>
        {raw}
        {about}
      </div>
    );
  }
  const set = (next: readonly Turn[]) => onDraft(field.name, JSON.stringify(next, null, 2));
  const last = turns.at(-1)?.role;
  return (
    <fieldset class="stack">
      <legend class="mono">{field.name}</legend>
      {turns.map((turn, index) => (
        <TurnFields
          key={index}
          number={index + 1}
          turn={turn}
          onTurn={(changed) => set(turns.with(index, changed))}
        />
      ))}
      <div class="row">
        <button
          type="button"
          onClick={() =>
            set([...turns, { role: last === 'user' ? 'assistant' : 'user', content: '' }])
          }
        >
          Add a message
        </button>
        {turns.length > 1 && (
          <button type="button" onClick={() => set(turns.slice(0, -1))}>
            Remove the last
          </button>
        )}
      </div>
      <div class="field">{about}</div>
    </fieldset>
  );
}

function TurnFields(props: {
  readonly number: number;
  readonly turn: Turn;
  readonly onTurn: (turn: Turn) => void;
}) {
  const { number, turn, onTurn } = props;
  return (
    <div class="turn">
      <select
        aria-label={`Who says message ${number}`}
        value={turn.role}
        onChange={(event) => onTurn({ ...turn, role: event.currentTarget.value })}
      >
        {ROLES.map((role) => (
          <option value={role}>{role}</option>
        ))}
      </select>
      <textarea
        aria-label={`Message ${number}`}
        rows={3}
        value={turn.content}
        onInput={(event) => onTurn({ ...turn, content: event.currentTarget.value })}
      />
    </div>
  );
}
