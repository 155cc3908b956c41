import { useSearchParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { type Filter, Filters } from '../shared/filters.js';
import { count } from '../shared/money.js';
import { Empty, Id, Panel, ScreenHead, Unshown } from '../shared/parts.js';
import { priceInShort } from '../shared/price-words.js';
import { useAnswer } from '../shared/queries.js';
import { useMayReadOffers } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';

type Model = Shape<'ModelView'>;

const kindOf = ({ supported_endpoint_types: types }: Model): string => types[0] ?? '';
/** The page of a model. Ids may have any character. */
const pageOf = ({ id }: Model): string => `/models/${encodeURIComponent(id)}`;

const boundsOf = ({ top_provider: bounds }: Model): string => {
  const { context_length: all, max_completion_tokens: output } = bounds;
  if (all === null) return '–';
  return `${count(all)} tokens${output === null ? '' : `, ${count(output)} of them output`}`;
};

const COLUMNS: readonly Column<Model>[] = [
  { head: 'Model', cell: (model) => <Id id={model.id} to={pageOf(model)} /> },
  { head: 'Kind', cell: ({ description }) => description },
  { head: 'Price', cell: ({ price }) => priceInShort(price) },
  { head: 'Context', cell: boundsOf },
];

/** What the key that signed in may buy. */
export default function Models() {
  if (!useMayReadOffers()) {
    return (
      <>
        <ScreenHead title="Models" answers="What can I buy, and for how much?" />
        <p class="notice">To see models, sign in with a key of scope read or call.</p>
      </>
    );
  }
  return <Bought />;
}

function Bought() {
  const { data, error } = useAnswer(['models'], () => api.GET('/v1/models'));
  const [params] = useSearchParams();
  if (data === undefined) return <Unshown title="Models" error={error} />;
  const models = ('object' in data ? data.data : []) as readonly Model[];
  const kinds = new Map(models.map((model) => [kindOf(model), model.description]));
  const filters: readonly Filter[] = [
    { name: 'kind', label: 'Kind', choices: [['', 'All'], ...kinds] },
    { name: 'text', label: 'Id has', placeholder: 'Any text' },
  ];
  const [kind, text] = [params.get('kind') ?? '', (params.get('text') ?? '').toLowerCase()];
  const shown = models.filter(
    (model) => (kind === '' || kindOf(model) === kind) && model.id.toLowerCase().includes(text),
  );
  const hasFactor = models.some(({ price }) => price.factor_permille !== undefined);
  return (
    <>
      <ScreenHead title="Models" answers="What can I buy, and for how much?" />
      <Panel
        title="Models"
        aside={
          <span class="soft">
            {count(shown.length)} of {count(models.length)}
          </span>
        }
      >
        <Filters of={filters} name="Filters of models" />
        {hasFactor && <p class="soft">The prices are yours: your price book is counted in.</p>}
        {shown.length === 0 ? (
          <Empty>
            {models.length === 0
              ? 'No model may be used here. Whoever made the key can allow some.'
              : 'No model has these properties.'}
          </Empty>
        ) : (
          <Table name="Models" columns={COLUMNS} rows={shown} />
        )}
      </Panel>
    </>
  );
}
