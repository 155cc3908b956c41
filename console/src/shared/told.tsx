import { signal, useSignalValue } from './signal.js';

const SHOWN_MS = 8_000;
const told = signal('');

/** Tells in a line at the foot of the page that something was done. */
export function tell(text: string): void {
  told.set(text);
  setTimeout(() => {
    if (told.value === text) told.set('');
  }, SHOWN_MS);
}

/** The line at the foot; a screen reader says it. */
export function Told() {
  const text = useSignalValue(told);
  return (
    <div role="status" class="told">
      {text !== '' && <p class="notice good">{text}</p>}
    </div>
  );
}
