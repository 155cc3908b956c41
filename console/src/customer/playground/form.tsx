import { useEffect, useId, useRef } from 'preact/hooks';
import { MessageFields } from './message-fields.js';
import type { FieldDraft, Drafts, FormField } from './fields.js';

interface FormProps {
  readonly fields: readonly FormField[];
  readonly drafts: Drafts;
  /** Fields that are shown at once, beside those that are required. */
  readonly inSight: readonly string[];
  /** Why a field cannot be sent, or why the gateway refused it. */
  readonly faults: Readonly<Record<string, string>>;
  readonly onDraft: (name: string, draft: FieldDraft | undefined) => void;
}

/** The fields of a call: what is required, and what may be added. */
export function CallFields({ fields, inSight, ...rest }: FormProps) {
  const isFirst = ({ name, isRequired }: FormField) => isRequired || inSight.includes(name);
  const others = fields.filter((field) => !isFirst(field));
  const set = others.filter(({ name }) => (rest.drafts[name] ?? '') !== '').length;
  return (
    <>
      {fields.filter(isFirst).map((field) => (
        <CallField key={field.name} field={field} {...rest} />
      ))}
      {others.length > 0 && (
        <details>
          <summary>
            {others.length} more {others.length === 1 ? 'field' : 'fields'}
            {set > 0 && `, ${set} set`}
          </summary>
          <div class="stack more-fields">
            {others.map((field) => (
              <CallField key={field.name} field={field} {...rest} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

type FieldProps = Omit<FormProps, 'fields' | 'inSight'> & { readonly field: FormField };

function CallField(props: FieldProps) {
  const { field, drafts, faults } = props;
  const id = useId();
  const fault = faults[field.name];
  const input = <Input {...props} id={id} />;
  const about = (
    <>
      {fault !== undefined && (
        <small class="fault" id={`${id}-fault`}>
          {fault}
        </small>
      )}
      {field.description !== '' && (
        <small>
          <Words text={field.description} />
        </small>
      )}
    </>
  );
  if (field.kind === 'flag') {
    return (
      <div class="field">
        <label class="row" for={id}>
          {input}
          <span class="mono">{field.name}</span>
        </label>
        {about}
      </div>
    );
  }
  if (field.kind === 'messages') {
    return <MessageFields {...props} about={about} raw={input} rawId={id} />;
  }
  return (
    <div class="field">
      <label for={id}>
        <span class="mono">{field.name}</span>
        <span class="soft">{remarkOn(field, drafts[field.name])}</span>
      </label>
      {input}
      {about}
    </div>
  );
}

/** A description, with what stands in backticks as code. */
function Words({ text }: { readonly text: string }) {
  return (
    <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>
  );
}

function remarkOn({ isRequired, kind }: FormField, draft: FieldDraft | undefined): string {
  const remarks = [
    isRequired ? 'required' : '',
    kind === 'json' ? 'JSON' : '',
    kind === 'either' ? 'text or JSON' : '',
    draft instanceof File ? `${(draft.size / MEGABYTE).toFixed(2)} MB` : '',
  ].filter((one) => one !== '');
  return remarks.length === 0 ? '' : ` ${remarks.join(', ')}`;
}

const MEGABYTE = 1e6;
function Input(props: FieldProps & { readonly id: string }) {
  const { field, drafts, faults, onDraft, id } = props;
  const { name, kind, isRequired } = field;
  const draft = drafts[name];
  const typed = typeof draft === 'string' ? draft : '';
  const common = {
    id,
    required: isRequired && kind !== 'flag',
    // What is still empty is no error yet.
    'aria-invalid': faults[name] !== undefined && typed !== '',
    ...(faults[name] !== undefined && { 'aria-describedby': `${id}-fault` }),
  };
  const onTyped = (text: string) => onDraft(name, text);
  if (kind === 'flag') {
    return (
      <input
        {...common}
        type="checkbox"
        checked={draft === true}
        onChange={(event) => onDraft(name, event.currentTarget.checked)}
      />
    );
  }
  if (kind === 'file') {
    return <FileInput common={common} draft={draft} onFile={(file) => onDraft(name, file)} />;
  }
  return <TypedInput {...{ field, common, typed, onTyped }} />;
}

interface TypedProps {
  readonly field: FormField;
  readonly common: Common;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
}

function TypedInput(props: TypedProps) {
  const { field, common, typed, onTyped } = props;
  const { kind, choices, isRequired } = field;
  if (kind === 'choice') {
    return (
      <select {...common} value={typed} onChange={(event) => onTyped(event.currentTarget.value)}>
        {(!isRequired || typed === '') && <option value="">not sent</option>}
        {choices.map((choice) => (
          <option value={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (kind === 'text' || kind === 'number') return <LineInput {...props} />;
  const isWords = kind === 'long-text';
  return (
    <textarea
      {...common}
      class={kind === 'json' || kind === 'messages' ? 'mono' : undefined}
      rows={rowsFor(typed, isWords ? 3 : 2)}
      spellcheck={isWords}
      value={typed}
      onInput={(event) => onTyped(event.currentTarget.value)}
    />
  );
}

const MOST_ROWS = 14;
const rowsFor = (typed: string, least: number): number =>
  Math.min(MOST_ROWS, Math.max(least, typed.split('\n').length));

type Common = Readonly<Record<string, string | boolean>>;

/** A text or a number of one line, with values that are proposed. */
function LineInput({ field, common, typed, onTyped }: TypedProps) {
  const { kind, choices, min, max, isInteger } = field;
  const id = useId();
  const onInput = (event: { readonly currentTarget: HTMLInputElement }) =>
    onTyped(event.currentTarget.value);
  if (kind === 'number') {
    const step = isInteger ? 1 : 'any';
    return (
      <input {...common} {...{ min, max, step }} type="number" value={typed} onInput={onInput} />
    );
  }
  const list = choices.length > 0 ? id : undefined;
  return (
    <>
      <input
        {...common}
        type="text"
        autoComplete="off"
        list={list}
        value={typed}
        onInput={onInput}
      />
      {list !== undefined && (
        <datalist id={list}>
          {choices.map((choice) => (
            <option value={choice} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A file; it is emptied when the form is filled with something else. */
function FileInput(props: {
  readonly common: Common;
  readonly draft: FieldDraft | undefined;
  readonly onFile: (file: File | undefined) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const { draft, common, onFile } = props;
  useEffect(() => {
    if (draft === undefined && input.current !== null) input.current.value = '';
  }, [draft]);
  return (
    <input
      {...common}
      ref={input}
      type="file"
      onChange={(event) => onFile(event.currentTarget.files?.[0])}
    />
  );
}
