import type { Edge, Passage } from '../support/statement-proxy.js';

/** The kinds of tasks whose edges are tested. A song has two steps: its recording is uploaded first. */
type EdgeKind = 'dub' | 'video' | 'song';

/** A place at which the gateway is killed, and what has become of the task after a restart. */
export interface TaskEdge extends Edge {
  readonly name: string;
  readonly kind: EdgeKind;
  /** Unknown: the gateway cannot know whether the provider was asked. */
  readonly outcome: 'succeeded' | 'unknown';
  /** Orders that the provider got. */
  readonly orders: number;
  /** How often the caller is told of the first end. Elsewhere once or, if a kill meets an attempt, twice. */
  readonly told?: number;
}

const says = (pattern: RegExp): Passage => ({ says: pattern });
const advanced = (phase: string): Passage => says(new RegExp(`^task_advance [^]*"${phase}"`));

const KEY = says(/^idempotency_claim/);
const SUBMITTED = says(/^task_submit/);
const CLAIM = /^task_claim/;
const CLAIMED: Passage = { says: CLAIM, answers: /waiting/ };
const MARKED = advanced('submitting');
const ACCEPTED = advanced('polling');
const POLLED = advanced('polling');
const STEPPED = advanced('waiting');
const FOUND = advanced('collecting');
const FILE_BEGUN = says(/INSERT INTO stored_file/);
const FILE_STORED = says(/UPDATE stored_file SET state = 'stored'/);
const FILE_EXPIRED = says(/UPDATE stored_file SET expires_at/);
const ENDED = says(/^task_complete/);
const CALL_DUE: Passage = { says: /^webhook_claim/, answers: /hook/ };
const RECORDED = says(/^webhook_record/);

interface Place {
  readonly name: string;
  readonly at: Passage;
  readonly past?: readonly Passage[];
  readonly kinds?: readonly EdgeKind[];
  readonly sides?: readonly Edge['side'][];
  /** What becomes of it when the kill is before or after. Default: it succeeds, and is told once. */
  readonly before?: Partial<TaskEdge>;
  readonly after?: Partial<TaskEdge>;
}

const UNKNOWN = { outcome: 'unknown' } as const;
const FILES: readonly EdgeKind[] = ['dub', 'video'];
const SONG: readonly EdgeKind[] = ['song'];
const DUB: readonly EdgeKind[] = ['dub'];

const PLACES: readonly Place[] = [
  { name: 'the claim of the idempotency key', at: KEY },
  { name: 'the row of the source', at: FILE_BEGUN, kinds: DUB },
  { name: 'the storing of the source', at: FILE_STORED, kinds: DUB },
  { name: 'the submission', at: SUBMITTED },
  {
    // Before it is after the submission.
    name: 'the claim of the work',
    at: CLAIMED,
    sides: ['after'],
  },
  {
    name: 'the mark',
    at: MARKED,
    after: { ...UNKNOWN, orders: 0 },
  },
  {
    name: 'the first step of two',
    at: STEPPED,
    kinds: SONG,
    before: { ...UNKNOWN, orders: 1 },
  },
  {
    name: 'the mark of the second step',
    past: [STEPPED],
    at: MARKED,
    kinds: SONG,
    after: { ...UNKNOWN, orders: 1 },
  },
  { name: 'the acceptance', at: ACCEPTED, before: UNKNOWN },
  { name: 'the removal of the source', past: [ACCEPTED], at: FILE_EXPIRED, kinds: DUB },
  { name: 'a poll', past: [ACCEPTED], at: POLLED },
  { name: 'the success', at: FOUND, kinds: FILES },
  { name: 'the row of the file', past: [ACCEPTED], at: FILE_BEGUN, kinds: FILES },
  { name: 'the storing of the file', past: [ACCEPTED], at: FILE_STORED, kinds: FILES },
  { name: 'the end', at: ENDED },
  { name: 'the claim of the webhook', at: CALL_DUE, sides: ['after'] },
  { name: 'the record of the webhook', at: RECORDED, before: { told: 2 } },
];

/** Orders of a task that reaches its job. */
const ORDERS: Readonly<Record<EdgeKind, number>> = { dub: 1, video: 1, song: 2 };
const SIDES = ['before', 'after'] as const;
const KINDS = Object.keys(ORDERS) as readonly EdgeKind[];

/** Every edge of every kind. */
export const TASK_EDGES: readonly TaskEdge[] = PLACES.flatMap((place) =>
  (place.kinds ?? KINDS).flatMap((kind) => edgesOf(place, kind)),
);

/** One side of every place with one kind: the side that matters more, or the sides in turn, as the kinds. */
export const TASK_EDGES_IN_TURN: readonly TaskEdge[] = PLACES.map((place, index) => {
  const kinds = place.kinds ?? KINDS;
  const sides = SIDES.filter((side) => place[side] ?? place.sides?.includes(side));
  const side = sides[0] ?? SIDES[index % SIDES.length] ?? 'before';
  return edgeOf(place, kinds[index % kinds.length] ?? 'dub', side);
});

function edgesOf(place: Place, kind: EdgeKind): TaskEdge[] {
  return (place.sides ?? SIDES).map((side) => edgeOf(place, kind, side));
}

function edgeOf(place: Place, kind: EdgeKind, side: Edge['side']): TaskEdge {
  const { name, at, past = [] } = place;
  const fate = place[side];
  return {
    kind,
    side,
    name: `${side} ${name}`,
    past,
    at: side === 'before' ? says(at.says) : at,
    outcome: 'succeeded',
    orders: ORDERS[kind],
    // No attempt is under way when it is found that the outcome is unknown; the callers of videos are not told of it.
    ...(fate?.outcome === 'unknown' && { told: kind === 'video' ? 0 : 1 }),
    ...fate,
  };
}
