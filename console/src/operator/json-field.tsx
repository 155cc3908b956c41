import { useEffect, useId, useRef } from 'preact/hooks';
import { ApiProblem } from '../shared/api.js';
import { linesOfPaths, readJsonText } from './json-lines.js';

/** A field for a text in JSON, which says in which line it is wrong. */
export function JsonField(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint: string;
  readonly rows?: number;
  /** What the gateway found wrong in it. */
  readonly fault?: string | undefined;
}) {
  const { label, value, onInput, hint, rows = 12, fault } = props;
  const input = useRef<HTMLTextAreaElement>(null);
  const saysId = useId();
  const read = readJsonText(value);
  const wrong = value.trim() === '' ? '' : (read.fault ?? fault ?? '');
  useEffect(() => input.current?.setCustomValidity(read.fault ?? ''), [read.fault]);
  return (
    <div class="field">
      <label for={`${saysId}-field`}>{label}</label>
      <textarea
        id={`${saysId}-field`}
        ref={input}
        class="code"
        rows={rows}
        required
        spellcheck={false}
        autocomplete="off"
        aria-invalid={wrong !== ''}
        aria-describedby={saysId}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <small id={saysId} class={wrong === '' ? undefined : 'fault'} aria-live="polite">
        {wrong === '' ? hint : wrong}
      </small>
    </div>
  );
}

/** Where in the text a refusal of the gateway is about: "Line 4: models.0.price"; undefined where it names no field. */
export function placeOfRefusal(problem: unknown, text: string): string | undefined {
  if (!(problem instanceof ApiProblem) || problem.param === undefined) return undefined;
  return lineOf(problem.param, text) ?? undefined;
}

/** The line of a path, and the path: "Line 4: models.0.price"; undefined where the text has nothing of it. */
export function lineOf(path: string, text: string): string | undefined {
  const lines = linesOfPaths(text);
  for (let part = path; part !== ''; part = part.replace(/\.?[^.]*$/, '')) {
    const line = lines.get(part);
    if (line !== undefined) return `Line ${line}: ${path}`;
  }
  return undefined;
}
