import { useSearchParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { Loading, Panel, Problem, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMayReadOffers } from '../shared/session.js';
import { type ApiDocument, useApiDocument } from './api-document.js';
import { Desk } from './playground/desk.js';
import { PAID_OPERATIONS } from './playground/operations.js';

type Model = Shape<'ModelView'>;

const TITLE = 'Playground';
const ANSWERS = 'Which model does it, what does it cost, and what is the code?';

/** A form for every operation, with its price before and its result after. */
export default function Playground() {
  if (useMayReadOffers()) return <WithModels />;
  return (
    <>
      <ScreenHead title={TITLE} answers={ANSWERS} />
      <p class="notice wait">
        To see models and prices, sign in with an API key of scope read or call. To call, it needs
        the scope call.
      </p>
    </>
  );
}

function WithModels() {
  const { data: document, error } = useApiDocument();
  const models = useAnswer(['models'], () => api.GET('/v1/models'));
  // Only a client of Messages gets a list of another form.
  const list = models.data?.data as readonly Model[] | undefined;
  if (document === undefined || list === undefined) {
    return <Unshown title={TITLE} error={error ?? models.error} />;
  }
  return (
    <>
      <ScreenHead title={TITLE} answers={ANSWERS} />
      <Chosen document={document} models={list} />
    </>
  );
}

/** The operation and the model, which the address keeps. */
function Chosen(props: { readonly document: ApiDocument; readonly models: readonly Model[] }) {
  const { document, models } = props;
  const [params, setParams] = useSearchParams();
  const takes = (model: Model, type: string) =>
    (model.supported_endpoint_types as readonly string[]).includes(type);
  const offered = PAID_OPERATIONS.filter(({ type }) => models.some((model) => takes(model, type)));
  const operation = offered.find(({ type }) => type === params.get('operation')) ?? offered[0];
  if (operation === undefined) return <p class="soft">No model may be called here.</p>;
  const fitting = models.filter((model) => takes(model, operation.type));
  const model = fitting.find(({ id }) => id === params.get('model')) ?? fitting[0];
  const choose = (type: string, id?: string) =>
    setParams(new URLSearchParams({ operation: type, ...(id !== undefined && { model: id }) }));
  return (
    <>
      <Panel title="What to try">
        <div class="filters">
          <label class="field">
            <span>Operation</span>
            <select value={operation.type} onChange={(event) => choose(event.currentTarget.value)}>
              {offered.map(({ type, name }) => (
                <option value={type}>{name}</option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Model</span>
            <select
              value={model?.id}
              onChange={(event) => choose(operation.type, event.currentTarget.value)}
            >
              {fitting.map(({ id }) => (
                <option value={id}>{id}</option>
              ))}
            </select>
          </label>
        </div>
        <p class="soft">
          <span class="mono">POST {operation.path}</span> · {model?.description}
        </p>
      </Panel>
      {model !== undefined && (
        <OfModel key={`${operation.type} ${model.id}`} {...{ document, operation }} id={model.id} />
      )}
    </>
  );
}

function OfModel(props: {
  readonly document: ApiDocument;
  readonly operation: (typeof PAID_OPERATIONS)[number];
  readonly id: string;
}) {
  const { id } = props;
  const { data, error } = useAnswer(['model', id], () =>
    api.GET('/v1/models/{id}', { params: { path: { id } } }),
  );
  if (data === undefined) return error === null ? <Loading /> : <Problem error={error} />;
  return <Desk document={props.document} path={props.operation.path} model={data} />;
}
