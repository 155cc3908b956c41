import type { JsonObject } from '../../common/json-object.js';
import type { ModelRow } from '../../catalog/model-row.js';
import type { Route } from '../../providers/ports/attempt.js';
import type { PricedText } from '../../text/text-quote.js';
import type { NewItem, StoredItem } from '../../stored-responses/response-store.js';
import type { ResponsesBody } from '../dto/responses.body.js';

/** Name of the kind of task. */
export const RESPONSE_KIND = 'response';

/** The model as it was when the response was submitted: its price does not change until the end. */
type SoldModel = PricedText & Pick<ModelRow<'chat'>, 'hiddenReasoning'>;

/** What is kept, sealed, of a response until its end. */
export interface BackgroundInput {
  /** Without `input`, which is among the items, and without the webhook. */
  readonly body: ResponsesBody;
  /** The whole conversation before the answer. All of it, because earlier responses may be deleted meanwhile. */
  readonly items: readonly NewItem[];
  readonly model: SoldModel;
  /** The protocol in which the route asks its vendor, as it was then; absent: chat completions. */
  readonly upstreamProtocol?: Route['upstreamProtocol'];
}

/** The input in JSON. Amounts of money are texts with an `n` at the end. */
export function packedInput(
  { input: _input, webhook: _url, webhook_secret: _secret, ...body }: ResponsesBody,
  items: readonly (StoredItem | NewItem)[],
  { price, limits, minOutputTokens, hiddenReasoning }: SoldModel,
  { upstreamProtocol }: Pick<Route, 'upstreamProtocol'>,
): JsonObject {
  return {
    body,
    items: items.map(({ id, item }) => ({ id, item })),
    model: { price: packedPrice(price), limits, minOutputTokens, hiddenReasoning },
    ...(upstreamProtocol !== undefined && { upstreamProtocol }),
  };
}

/** The input of JSON; undefined for a task whose input is gone or cannot be read. */
export function inputOfTask(packed: JsonObject): BackgroundInput | undefined {
  if (!('body' in packed)) return undefined;
  const { model, ...input } = packed as unknown as BackgroundInput & {
    readonly model: { readonly price: string };
  };
  return { ...input, model: { ...model, price: priceOf(model.price) } };
}

const AMOUNT = /^(\d+)n$/;

function packedPrice(price: SoldModel['price']): string {
  return JSON.stringify(price, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
}

function priceOf(packed: string): SoldModel['price'] {
  return JSON.parse(packed, (_name, value: unknown) => {
    const amount = typeof value === 'string' ? AMOUNT.exec(value)?.[1] : undefined;
    return amount === undefined ? value : BigInt(amount);
  }) as SoldModel['price'];
}
