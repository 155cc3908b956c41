import type { TargetedSubmitEvent } from 'preact';
import { useLocation } from 'wouter-preact';

/** Takes any id, and opens what has it. */
export function FindBox() {
  const [, navigate] = useLocation();
  const find = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('id');
    const id = typeof typed === 'string' ? typed.trim() : '';
    if (id !== '') navigate(`/find?id=${encodeURIComponent(id)}`);
  };
  return (
    <search>
      <form onSubmit={find}>
        <input
          type="search"
          name="id"
          aria-label="Find any id"
          placeholder="exec_…, task_…, acct_…, chatcmpl-…, a request id"
          spellcheck={false}
          maxLength={200}
        />
        <button type="submit">Find</button>
      </form>
    </search>
  );
}
