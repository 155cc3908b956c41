import type { ComponentChildren } from 'preact';

/** A field for words, in a dialogue. */
export function WordField(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly type?: 'text' | 'datetime-local';
  readonly pattern?: string;
  readonly isRequired?: boolean;
  readonly most?: number;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type={props.type ?? 'text'}
        autoComplete="off"
        required={props.isRequired}
        maxLength={props.most ?? 200}
        pattern={props.pattern}
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.hint !== undefined && <small>{props.hint}</small>}
    </label>
  );
}

/** A field with a few values to choose from, in a dialogue. */
export function ChoiceField(props: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
  readonly hint?: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.choices.map(([value, words]) => (
          <option value={value}>{words}</option>
        ))}
      </select>
      {props.hint !== undefined && <small>{props.hint}</small>}
    </label>
  );
}
