import type { TargetedEvent, TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { answerOf, api, type Shape } from '../shared/api.js';
import { count } from '../shared/money.js';
import { Empty, Figures, Panel, Problem, ScreenHead } from '../shared/parts.js';
import { endSessionOn } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { DifferencesOfFile } from './field-differences.js';
import { JsonField, lineOf } from './json-field.js';
import { readJsonText } from './json-lines.js';
import { pageOfModel } from './pages.js';
import { PriceTabs } from './price-tabs.js';

type Check = Shape<'CatalogCheckView'>;

const HINT = 'As the file of CATALOG_FILE has it: models, providers, voice_aliases.';
const TRY = 'npm run cli -- catalog:check overlay.json';
/** What a fault names first, and what it names in it: "models.1: price is required". */
const PLACE = /^([\w-]+(?:\.[\w-]+)*)(?:: ([\w-]+(?:\.[\w-]+)*))?/;

/** Checks a file for the catalog: nothing uses it. */
export default function CatalogCheck() {
  const mayCheck = useMay('admin');
  return (
    <>
      <ScreenHead
        title="Models and prices"
        answers="What would a new file for CATALOG_FILE change? Nothing uses it here."
      />
      <PriceTabs open="/catalog-check" />
      {mayCheck ? (
        <CheckForm />
      ) : (
        <Panel title="Check a file">
          <Empty command={TRY}>It needs the role admin. The command line does the same:</Empty>
        </Panel>
      )}
    </>
  );
}

function CheckForm() {
  const [text, setText] = useState('');
  const [checked, setChecked] = useState<{ readonly text: string; readonly is: Check }>();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const check = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    setChecked(undefined);
    const body = readJsonText(text).value as Record<string, unknown>;
    answerOf(api.POST('/admin/catalog/check', { body }))
      .then((is) => setChecked({ text, is }))
      .catch((problem: unknown) => {
        endSessionOn(problem);
        setError(problem);
      })
      .finally(() => setSending(false));
  };
  return (
    <>
      <Panel title="Check a file">
        <form class="stack" onSubmit={check}>
          <FileChoice onRead={setText} />
          <JsonField
            label="Content of the file"
            value={text}
            onInput={setText}
            hint={HINT}
            rows={14}
          />
          <div class="row">
            <button type="submit" class="main-act" disabled={isSending}>
              {isSending ? 'Checking…' : 'Check'}
            </button>
          </div>
        </form>
        {error !== undefined && <Problem error={error} />}
      </Panel>
      {checked !== undefined && <Result {...checked} />}
    </>
  );
}

function FileChoice({ onRead }: { readonly onRead: (text: string) => void }) {
  const read = ({ currentTarget: { files } }: TargetedEvent<HTMLInputElement>) => {
    void files?.[0]?.text().then(onRead);
  };
  return (
    <label class="field">
      <span>File</span>
      <input type="file" accept=".json,application/json" onChange={read} />
      <small>Or write or paste its content below.</small>
    </label>
  );
}

function Result({ is, text }: { readonly is: Check; readonly text: string }) {
  return is.ok ? <WouldChange is={is} /> : <Faults of={is} text={text} />;
}

/** The line that a fault is about: that of the field that it names, or of the entry without that field. */
function placeOfFault(fault: string, text: string): string | undefined {
  const [, entry = '', field] = PLACE.exec(fault) ?? [];
  const path = field === undefined ? entry : `${entry}.${field}`;
  return lineOf(path, text)?.replace(/:.*$/, '');
}

function Faults({
  of: { faults, more_faults: more },
  text,
}: {
  readonly of: Check;
  readonly text: string;
}) {
  return (
    <Panel title="What is wrong">
      <div class="notice bad" role="alert">
        <p>A gateway would not start with this file.</p>
        <ul>
          {faults.map((fault) => {
            const place = placeOfFault(fault, text);
            return (
              <li>
                {place !== undefined && <strong>{place}: </strong>}
                {fault}
              </li>
            );
          })}
        </ul>
        {more !== undefined && <p>And {count(more)} more.</p>}
      </div>
    </Panel>
  );
}

function WouldChange({ is }: { readonly is: Check }) {
  const { models = 0, added = [], changed = [], disabled = [], providers = [] } = is;
  const { differences = [], more_differences: more } = is;
  return (
    <>
      <p class="notice good" role="status">
        A gateway would start with this file.
      </p>
      <Figures
        of={[
          ['Models there would be', count(models)],
          ['Added to the built-in ones', count(added.length), <Names of={added} />],
          ['Built-in ones changed', count(changed.length), <Names of={changed} />],
          ['Not sold', count(disabled.length), <Names of={disabled} />],
          ['Providers added', count(providers.length), providers.join(', ')],
        ]}
      />
      <Panel title="What would change">
        {differences.length === 0 ? (
          <Empty>Nothing: models, prices and routes would be those of now.</Empty>
        ) : (
          <>
            <p class="soft">
              Against what this process sells now. Calls under way keep their price.
            </p>
            <DifferencesOfFile of={differences} />
            {more !== undefined && <p class="soft">And {count(more)} fields more.</p>}
          </>
        )}
      </Panel>
    </>
  );
}

const MOST_NAMES = 12;

function Names({ of }: { readonly of: readonly string[] }) {
  const left = of.length - MOST_NAMES;
  return (
    <>
      {of.slice(0, MOST_NAMES).map((id, index) => (
        <>
          {index > 0 && ', '}
          <Link href={pageOfModel(id)}>{id}</Link>
        </>
      ))}
      {left > 0 && ` and ${left} more`}
    </>
  );
}
