import { Link } from 'wouter-preact';

/** Between the lists of calls and of tasks. */
export function RecordTabs({ open }: { readonly open: 'calls' | 'tasks' }) {
  return (
    <nav class="tabs" aria-label="Kinds of work">
      <Link href="/calls" aria-current={open === 'calls' ? 'page' : undefined}>
        Calls
      </Link>
      <Link href="/tasks" aria-current={open === 'tasks' ? 'page' : undefined}>
        Tasks
      </Link>
    </nav>
  );
}
