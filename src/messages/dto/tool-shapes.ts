import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { faultAt, isCleanJson, uncleanPart, within } from '../../common/validation/clean-json.js';
import type { PartFault } from '../../common/validation/fields.js';

const MAX_TOOLS = 1_024;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const NAME_SAYS = 'must be 1 to 128 letters, digits, underscores or hyphens';
/** A tool without a type is the caller's own. */
const OWN_TYPES: readonly unknown[] = [undefined, null, 'custom'];
const CHOICES: readonly unknown[] = ['auto', 'any', 'tool', 'none'];
const EFFORTS: readonly unknown[] = [undefined, null, 'low', 'medium', 'high', 'xhigh', 'max'];
const THINKING: readonly unknown[] = ['enabled', 'adaptive', 'disabled'];
const MIN_BUDGET_TOKENS = 1_024;

const CACHE_TIMES: readonly unknown[] = [undefined, null, '5m', '1h'];

type Fault = PartFault | undefined;

/** `cache_control` of a tool or a block: how long the vendor is to keep the prompt up to here. */
export function cacheFault(cache: unknown): Fault {
  if (cache === undefined || cache === null) return undefined;
  if (!isJsonObject(cache)) return faultAt('', 'must be an object');
  if (cache.type !== 'ephemeral') return faultAt('.type', 'must be ephemeral');
  return CACHE_TIMES.includes(cache.ttl) ? undefined : faultAt('.ttl', 'must be 5m or 1h');
}

/** `tools`: the caller's own. Typed ones, which the vendor runs or defines, are refused. */
export function messageToolsFault(tools: unknown): Fault {
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS) {
    return faultAt('', `must be an array of at most ${MAX_TOOLS} tools`);
  }
  for (const [index, tool] of tools.entries()) {
    const fault = within(`.${index}`, toolFault(tool));
    if (fault) return fault;
  }
  return uncleanPart(tools);
}

function toolFault(tool: unknown): Fault {
  if (!isJsonObject(tool)) return faultAt('', 'must be an object');
  const { type, name, description, input_schema: schema, strict } = tool;
  if (!OWN_TYPES.includes(type)) {
    return faultAt('.type', 'must be custom or absent: typed tools are not offered here');
  }
  if (typeof name !== 'string' || !NAME.test(name)) return faultAt('.name', NAME_SAYS);
  if (description !== undefined && description !== null && typeof description !== 'string') {
    return faultAt('.description', 'must be a text');
  }
  if (!isJsonObject(schema)) return faultAt('.input_schema', 'must be an object');
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean') {
    return faultAt('.strict', 'must be true or false');
  }
  return within('.cache_control', cacheFault(tool.cache_control));
}

/** `tool_choice`: whether the model may, must or must not call a tool, or which one. */
export function messageToolChoiceFault(choice: unknown): Fault {
  if (!isJsonObject(choice)) return faultAt('', 'must be an object');
  const { type, name, disable_parallel_tool_use: single } = choice;
  if (!CHOICES.includes(type)) return faultAt('.type', `must be one of ${CHOICES.join(', ')}`);
  if (type === 'tool' && (typeof name !== 'string' || !NAME.test(name)))
    return faultAt('.name', NAME_SAYS);
  if (single !== undefined && single !== null && typeof single !== 'boolean') {
    return faultAt('.disable_parallel_tool_use', 'must be true or false');
  }
  return isCleanJson(choice) ? undefined : uncleanPart(choice);
}

/** `thinking`: whether the model thinks, and within which budget. */
export function thinkingFault(thinking: unknown): Fault {
  if (!isJsonObject(thinking)) return faultAt('', 'must be an object');
  const { type, budget_tokens: budget } = thinking;
  if (!THINKING.includes(type)) return faultAt('.type', `must be one of ${THINKING.join(', ')}`);
  if (type !== 'enabled' || isBudget(budget)) return uncleanPart(thinking);
  return faultAt('.budget_tokens', `must be a whole number from ${MIN_BUDGET_TOKENS}`);
}

const isBudget = (budget: unknown): boolean =>
  Number.isSafeInteger(budget) && (budget as number) >= MIN_BUDGET_TOKENS;

/** `output_config`: how much the model thinks, and the form of the answer. */
export function outputConfigFault(config: unknown): Fault {
  if (!isJsonObject(config)) return faultAt('', 'must be an object');
  const { effort, format } = config;
  if (!EFFORTS.includes(effort)) {
    return faultAt('.effort', 'must be low, medium, high, xhigh or max');
  }
  return within('.format', formatFault(format)) ?? uncleanPart(config);
}

function formatFault(format: unknown): Fault {
  if (format === undefined || format === null) return undefined;
  if (!isJsonObject(format)) return faultAt('', 'must be an object');
  if (format.type !== 'json_schema') return faultAt('.type', 'must be json_schema');
  return isJsonObject(format.schema) ? undefined : faultAt('.schema', 'must be an object');
}

/** `metadata`: the caller's own name for the person who asks. */
export function metadataFault(metadata: unknown): Fault {
  if (!isJsonObject(metadata)) return faultAt('', 'must be an object');
  const { user_id: user }: JsonObject = metadata;
  if (user === undefined || user === null || typeof user === 'string') return uncleanPart(metadata);
  return faultAt('.user_id', 'must be a text');
}
