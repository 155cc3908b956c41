import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Act, type Deed } from '../shared/act.js';
import { answerOf, api, ApiProblem, reasonHeader, type Shape } from '../shared/api.js';
import { queries } from '../shared/queries.js';
import { secondsOf } from '../shared/time.js';
import { JsonField, placeOfRefusal } from './json-field.js';
import { readJsonText } from './json-lines.js';

type Book = Shape<'PriceBookView'>;
type Body = Shape<'CreatePriceBookBody'>;

const FIRST = `{
  "id": "partners",
  "factor_permille": 900,
  "models": []
}`;
const HINT =
  'factor_permille: thousandths of the listed prices. models: prices of their own, as in the file of the catalog.';

interface Written {
  readonly text: string;
  readonly from: string;
  readonly fault: string | undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is typed into the fields of a book, and how it is sent. */
function useBookText(first: string) {
  const [written, setWritten] = useState<Written>({ text: first, from: '', fault: undefined });
  const set = (change: Partial<Written>) => setWritten((now) => ({ ...now, ...change }));
  /** Sends the body; a refusal is shown at its line. */
  const send = async <T,>(call: (body: Body) => Promise<T>): Promise<T> => {
    set({ fault: undefined });
    const validFrom = secondsOf(written.from);
    const { value } = readJsonText(written.text);
    // What is no object is refused by the gateway in its own words.
    const body = (
      isObject(value) && validFrom !== undefined ? { ...value, valid_from: validFrom } : value
    ) as Body;
    return call(body).catch((problem: unknown) => {
      set({ fault: placeOfRefusal(problem, written.text) });
      throw problem;
    });
  };
  return { written, set, send };
}

function BookFields({ of: { written, set } }: { readonly of: ReturnType<typeof useBookText> }) {
  return (
    <>
      <JsonField
        label="The book, in JSON"
        value={written.text}
        onInput={(text) => set({ text, fault: undefined })}
        hint={HINT}
        fault={written.fault}
      />
      <label class="field">
        <span>In force from</span>
        <input
          type="datetime-local"
          value={written.from}
          onInput={(event) => set({ from: event.currentTarget.value })}
        />
        <small>In your time zone. Empty: from now on, or as valid_from of the text says.</small>
      </label>
    </>
  );
}

/** Makes a price book. */
export function NewBook({ onMade }: { readonly onMade: (id: string) => void }) {
  const fields = useBookText(FIRST);
  const run = async ({ reason }: Deed) => {
    const headers = reasonHeader(reason);
    const { id } = await fields.send((body) =>
      answerOf(api.POST('/admin/price-books', { body, headers })),
    );
    onMade(id);
    fields.set({ text: FIRST, from: '' });
    return `The price book ${id} was made. No account has it yet.`;
  };
  return (
    <Act label="New price book" title="Make a price book" isMain movesMoney run={run}>
      <BookFields of={fields} />
    </Act>
  );
}

const textOf = ({ factor_permille, models }: Pick<Book, 'factor_permille' | 'models'>): string =>
  JSON.stringify({ factor_permille, models }, null, 2);

/** Writes a new version of a price book, unless somebody else has written one since the text was begun. */
export function ReplaceBook({ book }: { readonly book: Book }) {
  const [first, setFirst] = useState(book);
  const fields = useBookText(textOf(first));
  const { text, from } = fields.written;
  const isUntouched = text === textOf(first) && from === '';
  const begin = () => {
    setFirst(book);
    fields.set({ text: textOf(book), from: '', fault: undefined });
  };
  const isOld = book.newest_version !== first.newest_version;
  useEffect(() => {
    if (isOld && isUntouched) begin();
  }, [isOld, isUntouched]);
  const run = async ({ reason }: Deed) => {
    const headers = reasonHeader(reason);
    const params = { path: { id: book.id } };
    const replaced = await fields
      .send((body) => {
        // What is no object is refused by the gateway in its own words.
        const sent = isObject(body) ? { ...body, replaces_version: first.newest_version } : body;
        return answerOf(api.PUT('/admin/price-books/{id}', { params, body: sent, headers }));
      })
      .catch(async (problem: unknown) => {
        if (problem instanceof ApiProblem && problem.status === 409) {
          await queries.invalidateQueries({ queryKey: ['price-book', book.id] });
        }
        throw problem;
      });
    setFirst(replaced);
    fields.set({ text: textOf(replaced), from: '' });
    const planned = replaced.planned.length - book.planned.length;
    return planned > 0
      ? 'The new version is planned.'
      : 'The new version is in force within 2 seconds.';
  };
  return (
    <Act label="Replace" title={`Replace ${book.id}`} isMain movesMoney run={run}>
      <p>
        {accountsOf(book)} The new version replaces all that the book says. Calls and tasks under
        way keep their price.
      </p>
      {isOld && (
        <div class="notice wait" role="status">
          <p>
            Somebody has written version {book.newest_version} meanwhile. Your text was begun from
            version {first.newest_version}, so it is not taken.
          </p>
          <button type="button" onClick={begin}>
            Begin anew from what is in force
          </button>
        </div>
      )}
      <BookFields of={fields} />
    </Act>
  );
}

const accountsOf = ({ accounts }: Book): string =>
  accounts === 1 ? '1 account pays by it.' : `${accounts} accounts pay by it.`;

/** Deletes a price book that no account has. */
export function DeleteBook({ book }: { readonly book: Book }) {
  const [, navigate] = useLocation();
  const run = async ({ reason }: Deed) => {
    await answerOf(
      api.DELETE('/admin/price-books/{id}', {
        params: { path: { id: book.id } },
        headers: reasonHeader(reason),
      }),
    );
    navigate('/price-books');
    // The page of the book is gone before its answers are asked for anew.
    await new Promise((gone) => setTimeout(gone, 0));
    return `The price book ${book.id} is deleted.`;
  };
  return (
    <Act label="Delete" title={`Delete ${book.id}`} isDangerous movesMoney run={run}>
      <p>
        {book.accounts > 0
          ? `${accountsOf(book)} Give them another one first: the gateway refuses to delete a book that an account has.`
          : 'No account pays by it. Records of calls that were priced by it go on naming it.'}
      </p>
    </Act>
  );
}
