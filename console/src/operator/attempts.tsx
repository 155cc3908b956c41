import type { Shape } from '../shared/api.js';
import { duration } from '../shared/time.js';
import { Badge } from '../shared/parts.js';
import { type Column, Table } from '../shared/table.js';
import type { Moment, Tone } from '../shared/parts.js';

type Attempt = Shape<'ProviderAttemptView'>;

const toneOf = ({ outcome }: Attempt): Tone =>
  outcome === 'success' ? 'good' : outcome === 'aborted' || outcome === null ? 'plain' : 'wait';

const STEPS = {
  submit: 'Sent to',
  look_up: 'Looked up at',
  poll: 'Asked',
  download: 'Fetched from',
} as const;

/** When it began, how long it took, and what came: "after 4 ms, 812 ms, timeout, HTTP 503". */
function wordsOf(attempt: Attempt): string {
  const { start_ms: start, duration_ms: took, outcome, status, code } = attempt;
  return [
    start === null ? null : `after ${duration(start)}`,
    took === null ? null : `${duration(took)} long`,
    outcome?.replaceAll('_', ' ') ?? 'failed',
    status === null ? null : `HTTP ${status}`,
    code,
  ]
    .filter((word) => word !== null)
    .join(', ');
}

/** The attempts at providers, as moments of a timeline. */
export function attemptMoments(attempts: readonly Attempt[]): readonly Moment[] {
  return attempts.map((attempt) => ({
    title: `${attempt.step === null ? 'Asked' : STEPS[attempt.step]} ${attempt.provider}, ${attempt.upstream_model}`,
    tone: toneOf(attempt),
    detail: <p class="soft">{wordsOf(attempt)}</p>,
  }));
}

const COLUMNS: readonly Column<Attempt>[] = [
  { head: 'Provider', cell: ({ provider }) => provider },
  { head: 'Its model', cell: ({ upstream_model: model }) => <span class="mono">{model}</span> },
  { head: 'Step', cell: ({ step }) => step ?? 'call' },
  {
    head: 'Outcome',
    cell: (attempt) => <Badge state={attempt.outcome ?? 'failed'} tone={toneOf(attempt)} />,
  },
  { head: 'Start', isNumber: true, cell: ({ start_ms: ms }) => duration(ms) },
  { head: 'Took', isNumber: true, cell: ({ duration_ms: ms }) => duration(ms) },
  { head: 'First byte', isNumber: true, cell: ({ first_byte_ms: ms }) => duration(ms) },
  { head: 'HTTP', isNumber: true, cell: ({ status }) => status ?? '–' },
  { head: 'Code', cell: ({ code }) => code ?? '–' },
  {
    head: "Provider's id",
    cell: ({ provider_request_id: id }) => <span class="mono">{id ?? '–'}</span>,
  },
];

/** The attempts at providers with all that is known of them. */
export function Attempts({ of }: { readonly of: readonly Attempt[] }) {
  if (of.length === 0) return <p class="soft">No provider was asked.</p>;
  return <Table name="Attempts at providers" columns={COLUMNS} rows={of} />;
}
