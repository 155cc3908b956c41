import { useState } from 'preact/hooks';
import { Act, type Deed } from '../shared/act.js';
import { answerOf, api, reasonHeader, type Shape } from '../shared/api.js';
import { ChoiceField, WordField } from '../shared/fields.js';
import { DOLLARS, microUsdOf, typedUsd, usd } from '../shared/money.js';
import { Problem } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';

type Account = Shape<'AccountDetailView'>;
type Body = Shape<'UpdateAccountBody'>;

/** Most books that are offered. */
const MOST_BOOKS = 100;
const LISTED = '';

/** The books to choose from, the present one among them. */
function Books(props: {
  readonly value: string;
  readonly present: string;
  readonly onChoose: (id: string) => void;
}) {
  const { data, error } = useAnswer(['price-books', 'all'], () =>
    api.GET('/admin/price-books', { params: { query: { limit: MOST_BOOKS } } }),
  );
  if (error !== null) return <Problem error={error} />;
  const ids = new Set([props.present, ...(data?.data ?? []).map(({ id }) => id)]);
  ids.delete(LISTED);
  return (
    <ChoiceField
      label="Price book"
      value={props.value}
      choices={[[LISTED, 'The listed prices'], ...[...ids].map((id) => [id, id] as const)]}
      onChoose={props.onChoose}
      hint={
        data?.data.length === 0
          ? 'There is no price book. Make one on the screen Models and prices.'
          : 'It holds for calls that begin 2 seconds after it.'
      }
    />
  );
}

/** Changes what an account is called, by which prices it pays, and when it is told of a low balance. */
export function ChangeAccount({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name);
  const [book, setBook] = useState(account.price_book ?? LISTED);
  const [mark, setMark] = useState(() =>
    account.low_balance_microusd === null ? '' : typedUsd(account.low_balance_microusd),
  );
  const present = account.price_book ?? LISTED;
  const low = microUsdOf(mark)?.toString() ?? null;
  // Null clears, which the document does not say of each field.
  const body = {
    ...(name.trim() !== account.name && { name: name.trim() }),
    ...(book !== present && { price_book: book === LISTED ? null : book }),
    ...(low !== account.low_balance_microusd && { low_balance_microusd: low }),
  } as Body;
  const run = async (deed: Deed) => {
    await answerOf(
      api.PATCH('/admin/accounts/{id}', {
        params: { path: { id: account.id } },
        body,
        headers: reasonHeader(deed.reason),
      }),
    );
    return `${name.trim()} was changed.`;
  };
  return (
    <Act label="Change" title={`Change ${account.name}`} movesMoney run={run}>
      <WordField label="Name" value={name} onInput={setName} isRequired />
      <Books value={book} present={present} onChoose={setBook} />
      <WordField
        label="Told when less is available, in dollars"
        value={mark}
        onInput={setMark}
        pattern={DOLLARS}
        hint="Below it the event balance.low goes to its endpoints. Empty: never."
      />
      <p>
        Available now {usd(account.available_microusd)}. The balance, and what runs, stay as they
        are.
      </p>
    </Act>
  );
}
