import { useSearchParams } from 'wouter-preact';
import { type Filter, Filters, useFilters } from './filters.js';
import { dimensionName, type DimensionId } from './usage-dimensions.js';
import { RANGES, type Span, spanOf } from './usage-span.js';
import type { Metric } from './usage-values.js';

const USUAL_BY: DimensionId = 'model';

/** What a screen of usage offers. */
export interface UsageChoices {
  readonly dimensions: readonly DimensionId[];
  /** The first is the usual one; one alone is no choice. */
  readonly metrics: readonly Metric[];
  readonly filters: readonly Filter[];
}

/** What the address asks for. */
export interface UsageAsked {
  readonly span: Span;
  readonly metric: Metric;
  /** One or two, the first by which a chart has its lines. */
  readonly dimensions: readonly DimensionId[];
  readonly filters: Readonly<Record<string, string>>;
}

/** What the address asks for, as far as a screen offers it. */
export function useUsageAsked(choices: UsageChoices): UsageAsked {
  const [params] = useSearchParams();
  const filters = useFilters(choices.filters);
  const offered = (id: string | null) => choices.dimensions.find((dimension) => dimension === id);
  const by = offered(params.get('by')) ?? USUAL_BY;
  const then = offered(params.get('then'));
  const metric = choices.metrics.find(({ id }) => id === params.get('metric'));
  const [usual] = choices.metrics;
  if (usual === undefined) throw new Error('A screen of usage counts something.');
  return {
    span: spanOf(params),
    metric: metric ?? usual,
    dimensions: then === undefined || then === by ? [by] : [by, then],
    filters,
  };
}

/** The fields of a screen of usage; what they say is in the address. */
export function UsageControls({
  choices,
  span,
}: {
  readonly choices: UsageChoices;
  readonly span: Span;
}) {
  const { dimensions, metrics, filters } = choices;
  const named = dimensions.map((id) => [id, dimensionName(id)] as const);
  const others = named.filter(([id]) => id !== USUAL_BY);
  const fields: readonly Filter[] = [
    ...(metrics.length < 2
      ? []
      : [
          {
            ...{ name: 'metric', label: 'What' },
            choices: metrics.map(({ id, name }, place) => [place === 0 ? '' : id, name] as const),
          },
        ]),
    { name: 'by', label: 'By', choices: [['', dimensionName(USUAL_BY)], ...others] },
    { name: 'then', label: 'And by', choices: [['', 'Nothing else'], ...named] },
    {
      ...{ name: 'roll', label: 'Each point is' },
      choices: [
        ['', 'As the time needs'],
        ['hour', 'An hour'],
        ['day', 'A day'],
        ['month', 'A month'],
      ],
    },
    ...filters,
    { name: 'from', label: 'From', isTime: true },
    { name: 'to', label: 'Before', isTime: true },
  ];
  return (
    <>
      <Ranges chosen={span.range} />
      <Filters of={fields} name="What to show" />
    </>
  );
}

function Ranges({ chosen }: { readonly chosen: string | undefined }) {
  const [params, setParams] = useSearchParams();
  const choose = (range: string) => {
    const next = new URLSearchParams(params);
    for (const name of ['from', 'to', 'roll']) next.delete(name);
    next.set('range', range);
    setParams(next);
  };
  return (
    <div class="row" role="group" aria-label="Time">
      {RANGES.map(([id, name]) => (
        <button type="button" aria-pressed={id === chosen} onClick={() => choose(id)}>
          {name}
        </button>
      ))}
    </div>
  );
}
