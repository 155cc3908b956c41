import type { JsonObject } from '../../common/json-object.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd, usdOf } from '../../common/money/micro-usd.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import type { Bill } from '../../text/text-face.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { LEFT_OUT_TOOLS } from '../dto/response-shapes.js';
import { toResponseId } from '../../stored-responses/response-ids.js';

/** What all objects of one response have. */
export interface ResponseOrigin {
  /** UUID of the execution or, in the background, of the task. */
  readonly executionId: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** The model as the caller named it. */
  readonly model: string;
  readonly body: ResponsesBody;
}

/** What changes while a response is made. */
export interface ResponseState {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
  readonly output: readonly JsonObject[];
  readonly isStored: boolean;
  /** Epoch seconds. */
  readonly completedAt?: number;
  readonly incompleteReason?: string;
  readonly bill?: Bill;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The reasons for which an answer is incomplete, in the words of the protocol. */
const INCOMPLETE: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** Why an answer that ended for this reason is incomplete; undefined: it is complete. */
export function incompleteReasonOf(reason: FinishReason | undefined): string | undefined {
  return reason && INCOMPLETE[reason];
}

/** The response object with all its fields, as the strictest readers want them (API: Response object). */
export function responseObject(head: ResponseOrigin, state: ResponseState): JsonObject {
  const { executionId, createdAt, model, body } = head;
  const { bill, incompleteReason } = state;
  const isBackground = body.background === true;
  return {
    id: toResponseId(executionId),
    object: 'response',
    created_at: createdAt,
    completed_at: state.completedAt ?? null,
    status: state.status,
    background: isBackground,
    error: state.error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model,
    output: state.output,
    ...echoOf(body),
    store: state.isStored,
    usage: bill ? usageOf(bill) : null,
    ...(bill && {
      billing: billingOf(bill, toPublicId(isBackground ? 'task' : 'exec', executionId)),
    }),
  };
}

/** What a response shows for a setting that the request leaves out. */
const SETTINGS = {
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  top_p: 1,
  top_logprobs: 0,
  presence_penalty: 0,
  frequency_penalty: 0,
  tool_choice: 'auto',
  truncation: 'disabled',
  prompt_cache_retention: null,
} as const satisfies Partial<Record<keyof ResponsesBody, unknown>>;

function settingsOf(body: ResponsesBody): JsonObject {
  const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
  return Object.fromEntries(names.map((name) => [name, body[name] ?? SETTINGS[name]]));
}

/** The settings of the request, as the response shows them. */
function echoOf(body: ResponsesBody): JsonObject {
  const { reasoning, text } = body;
  return {
    previous_response_id: filled(body.previous_response_id),
    instructions: filled(body.instructions),
    ...settingsOf(body),
    tools: (body.tools ?? []).filter(({ type }) => !LEFT_OUT_TOOLS.has(type)).map(shownTool),
    text: { ...text, format: text?.format ?? { type: 'text' } },
    reasoning: { effort: reasoning?.effort ?? null, summary: null },
    service_tier: 'default',
    user: filled(body.user),
    safety_identifier: filled(body.safety_identifier),
    prompt_cache_key: filled(body.prompt_cache_key),
  };
}

const filled = (text: string | undefined): string | null =>
  text === undefined || text === '' ? null : text;

function shownTool({
  type,
  name,
  description,
  parameters,
  strict,
  format,
}: JsonObject): JsonObject {
  const named = { type, name, description: description ?? null };
  return type === 'custom'
    ? { ...named, format: format ?? { type: 'text' } }
    : { ...named, parameters: parameters ?? null, strict: strict ?? null };
}

/** The tokens of the response, and what they cost (API: Response object). */
function usageOf({ usage, chargedMicroUsd }: Bill): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const { cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      cached_tokens: cachedTokens ?? 0,
      cache_write_tokens: cacheWriteTokens + cacheWrite1hTokens,
    },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
    cost: usdOf(chargedMicroUsd),
    cost_microusd: Number(chargedMicroUsd),
  };
}

function billingOf({ chargedMicroUsd, heldMicroUsd }: Bill, recordId: string): JsonObject {
  return {
    charged_microusd: formatMicroUsd(chargedMicroUsd),
    held_microusd: formatMicroUsd(heldMicroUsd),
    execution_id: recordId,
  };
}
