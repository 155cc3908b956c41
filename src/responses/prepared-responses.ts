import { Injectable } from '@nestjs/common';
import type { OpenBody } from '../common/validation/open-body.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { IgnoredFields } from '../text/ignored-fields.js';
import type { TextRequest } from '../text/text-request.js';
import { LOGPROBS, SEALED_THOUGHTS } from './dto/response-shapes.js';
import type { ResponsesBody } from './dto/responses.body.js';
import { messagesOf, type PlacedItem } from './input/item-conversation.js';
import { ItemIds } from './input/item-ids.js';
import { nativeBodyOf } from './input/native-request.js';
import { ReasoningSeal } from './input/reasoning-seal.js';
import { type ResponseInput, ResponseInputs } from './input/response-inputs.js';
import { noteUnknownOptions } from './input/known-options.js';
import { textRequestOf } from './input/response-request.js';
import type { ItemTerms } from './output/item-draft.js';
import { ResponseWork } from './response-work.js';
import { type NewItem, ResponseStore } from '../stored-responses/response-store.js';

/** A request whose references are resolved: what is asked of the core of text, and what is made of the answer. */
export interface PreparedResponse {
  readonly asked: TextRequest;
  readonly work: ResponseWork;
  readonly terms: ItemTerms;
}

/** The call whose response is prepared. */
type ResponseCall = Pick<AdmittedCall<'chat'>, 'executionId' | 'caller' | 'modelName'>;

/** Prepares responses: resolves what they continue before anything is priced (decision G-108). */
@Injectable()
export class PreparedResponses {
  constructor(
    private readonly inputs: ResponseInputs,
    private readonly store: ResponseStore,
    private readonly seal: ReasoningSeal,
    private readonly ids: ItemIds,
    private readonly clock: Clock,
  ) {}

  /** What the body asks. Throws `invalid_request` and `previous_response_not_found`, naming the field. */
  async asked(
    accountId: string,
    { body, ignored: unknown, isStrict }: OpenBody<ResponsesBody>,
  ): Promise<{ readonly asked: TextRequest } & Pick<ResponseInput, 'items'>> {
    const ignored = new IgnoredFields();
    for (const name of unknown) ignored.add(name);
    if (body.context_management !== undefined) ignored.add('context_management');
    noteUnknownOptions(body, ignored);
    const { placed, items } = await this.inputs.of(accountId, body, ignored);
    const asked = this.textOf(accountId, body, placed, ignored);
    ignored.refuseWhere(isStrict);
    return { asked, items };
  }

  /** What an earlier request asked, from its body and its whole conversation, and how its answer is made. */
  again(
    accountId: string,
    body: ResponsesBody,
    items: readonly NewItem[],
  ): Pick<PreparedResponse, 'asked' | 'terms'> {
    const placed = items.map(({ item }) => ({ item, param: 'input' }));
    const asked = this.textOf(accountId, body, placed, new IgnoredFields());
    return { asked, terms: this.termsOf(accountId, body) };
  }

  /** The same, with what is made of the answer. */
  async of(call: ResponseCall, sent: OpenBody<ResponsesBody>): Promise<PreparedResponse> {
    const { accountId } = call.caller;
    const { body } = sent;
    const { asked, items } = await this.asked(accountId, sent);
    const { executionId, modelName: model } = call;
    const head = { executionId, createdAt: this.clock.nowSeconds(), model, body };
    const nowSeconds = () => this.clock.nowSeconds();
    return {
      asked,
      work: new ResponseWork({ head, accountId, items }, this.store, nowSeconds),
      terms: this.termsOf(accountId, body),
    };
  }

  private textOf(
    accountId: string,
    body: ResponsesBody,
    placed: readonly PlacedItem[],
    ignored: IgnoredFields,
  ): TextRequest {
    const open = (sealed: unknown) => this.seal.open(sealed, accountId);
    const native = nativeBodyOf(body, placed, open);
    return textRequestOf(body, messagesOf(placed, open), native, ignored);
  }

  private termsOf(accountId: string, { include }: ResponsesBody): ItemTerms {
    return {
      newId: () => this.ids.fresh(),
      seal: (part) => this.seal.seal(part, accountId),
      showsSealed: include?.includes(SEALED_THOUGHTS) === true,
      showsLogprobs: include?.includes(LOGPROBS) === true,
    };
  }
}
