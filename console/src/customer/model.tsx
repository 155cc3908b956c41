import { Link, useParams } from 'wouter-preact';
import { api, decoded, type Shape } from '../shared/api.js';
import { Copy, Facts, Loading, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { Problem } from '../shared/parts.js';
import { priceLines, type PriceWords } from '../shared/price-words.js';
import { useAnswer } from '../shared/queries.js';
import { type Column, Table } from '../shared/table.js';
import { fieldsOf, limitsOf, type ModelField } from './model-fields.js';
import { useApiDocument } from './api-document.js';

type ModelDetail = Shape<'ModelDetailView'>;
type Voice = Shape<'VoiceView'>;

/** One model: what it costs, what its requests may have, and its voices. */
export default function Model() {
  const params = useParams<{ id: string }>();
  const id = decoded(params.id);
  const { data, error } = useAnswer(['model', id], () =>
    api.GET('/v1/models/{id}', { params: { path: { id } } }),
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  const { price, supported_voices: voices } = data;
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            {data.description}, by <span class="mono">POST {data.endpoint}</span>{' '}
            <Copy text={data.id} what="the id" />
          </>
        }
      >
        <Link class="button main-act" href={playgroundOf(data)}>
          Try it
        </Link>
      </ScreenHead>
      <div class="columns">
        <Panel title="Price">
          <Table name="Price" columns={PRICE_COLUMNS} rows={priceLines(price)} />
          {price.factor_permille !== undefined && (
            <p class="soft">
              Your price book is counted in: the listed price × {price.factor_permille / 1_000}.
            </p>
          )}
        </Panel>
        <Panel title="Limits">
          <Facts
            of={[
              ...limitsOf(data),
              ['Takes', data.architecture.input_modalities.join(', ')],
              ['Gives', data.architecture.output_modalities.join(', ')],
              ...(data.canonical_slug === data.id
                ? []
                : [['Another name of', data.canonical_slug] as const]),
            ]}
          />
        </Panel>
      </div>
      <Fields of={data} />
      {voices && <Voices of={id} />}
      <RawJson value={data} />
    </>
  );
}

/** The playground with the model chosen. */
function playgroundOf({ id, supported_endpoint_types: types }: ModelDetail): string {
  const query = new URLSearchParams({ operation: types[0] ?? '', model: id });
  return `/playground?${query.toString()}`;
}

const PRICE_COLUMNS: readonly Column<PriceWords>[] = [
  { head: 'What', cell: ([what]) => what },
  { head: 'Costs', isNumber: true, cell: ([, cost]) => cost },
];

/** A sentence of the document, in which names stand between grave accents. */
function Meaning({ of }: { readonly of: string }) {
  return (
    <>
      {of
        .split('`')
        .map((part, index) => (index % 2 === 0 ? part : <span class="name mono">{part}</span>))}
    </>
  );
}

const FIELD_COLUMNS: readonly Column<ModelField>[] = [
  {
    head: 'Field',
    cell: ({ name, isRequired }) => (
      <>
        <span class="mono">{name}</span> {isRequired && <small class="soft">required</small>}
      </>
    ),
  },
  { head: 'Takes', cell: ({ takes }) => takes },
  { head: 'What it does', cell: ({ meaning }) => <Meaning of={meaning} /> },
];

function Fields({ of: model }: { readonly of: ModelDetail }) {
  const { data, error } = useApiDocument();
  return (
    <Panel title="Fields of a request">
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <Problem error={error} />
        )
      ) : (
        <Table name="Fields of a request" columns={FIELD_COLUMNS} rows={fieldsOf(model, data)} />
      )}
    </Panel>
  );
}

const VOICE_COLUMNS: readonly Column<Voice>[] = [
  { head: 'Voice', cell: ({ name }) => name },
  { head: 'Sounds', cell: ({ gender }) => gender?.toLowerCase() ?? '' },
  { head: 'Accent', cell: ({ accent }) => accent ?? '' },
  { head: 'Id', cell: ({ id }) => <span class="mono">{id}</span> },
];

/** The voices that a model takes. What its own sound like is not known. */
function Voices({ of: model }: { readonly of: string }) {
  const { data, error } = useAnswer(['voices', model], () =>
    api.GET('/v1/voices', { params: { query: { model } } }),
  );
  return (
    <Panel title="Voices">
      {error !== null && <Problem error={error} />}
      {data !== undefined && <Table name="Voices" columns={VOICE_COLUMNS} rows={data.data} />}
    </Panel>
  );
}
