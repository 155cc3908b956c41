import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { PartFault } from '../../common/validation/fields.js';
import { faultAt, uncleanPart, within } from '../../common/validation/clean-json.js';
import { imageFault } from '../../text/text-fields.js';

/** Most items of one input. */
const MAX_ITEMS = 10_000;
/** Most characters of an id or a name. */
const MAX_LABEL = 256;
const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];

type Fault = PartFault | undefined;
type Check = (item: JsonObject) => Fault;

/** The items that an input may have, and what each must have. */
const ITEMS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ['message', messageFault],
  ['function_call', (item) => textFault(item, 'call_id', 'name') ?? stringFault(item, 'arguments')],
  ['function_call_output', outputFault],
  ['custom_tool_call', (item) => textFault(item, 'call_id', 'name') ?? stringFault(item, 'input')],
  ['custom_tool_call_output', outputFault],
  ['reasoning', reasoningFault],
  ['item_reference', (item) => textFault(item, 'id')],
]);

/** The type of an item: a message and a reference may leave it out. */
export function typeOfItem({ type, role, id, ...rest }: JsonObject): unknown {
  if (type !== undefined && type !== null) return type;
  if (role === undefined && typeof id === 'string' && Object.keys(rest).length === 0) {
    return 'item_reference';
  }
  return 'message';
}

/** `input`: a text, or items. The fault names the item and its part, such as `.3.content.0.type`. */
export function inputFault(input: unknown): Fault {
  if (typeof input === 'string')
    return input === '' ? faultAt('', 'must not be empty') : uncleanPart(input);
  if (!Array.isArray(input) || input.length === 0 || input.length > MAX_ITEMS) {
    return faultAt('', `must be a text or an array of 1 to ${MAX_ITEMS} items`);
  }
  for (const [index, item] of input.entries()) {
    const fault = within(`.${index}`, itemFault(item));
    if (fault) return fault;
  }
  return uncleanPart(input);
}

function itemFault(item: unknown): Fault {
  if (!isJsonObject(item)) return faultAt('', 'must be an object');
  const check = ITEMS.get(typeOfItem(item));
  if (check) return check(item);
  const types = [...ITEMS.keys()].join(', ');
  return faultAt('.type', `must be one of ${types}: items of hosted tools are not offered here`);
}

function messageFault({ role, content }: JsonObject): Fault {
  if (!ROLES.includes(role)) return faultAt('.role', `must be one of ${ROLES.join(', ')}`);
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content)) return faultAt('.content', 'must be a text or an array of parts');
  if (content.length === 0 && role !== 'assistant') return faultAt('.content', 'must not be empty');
  const types = role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image'];
  return partsFault(content, role === 'user' || role === 'assistant' ? types : ['input_text']);
}

function outputFault(item: JsonObject): Fault {
  const fault = textFault(item, 'call_id');
  if (fault || typeof item.output === 'string') return fault;
  if (!Array.isArray(item.output)) return faultAt('.output', 'must be a text or an array of parts');
  const inner = partsFault(item.output, ['input_text', 'input_image']);
  return inner && faultAt(inner.at.replace('.content', '.output'), inner.says);
}

function partsFault(parts: readonly unknown[], types: readonly string[]): Fault {
  for (const [index, part] of parts.entries()) {
    const fault = within(`.content.${index}`, partFault(part, types));
    if (fault) return fault;
  }
  return undefined;
}

function partFault(part: unknown, types: readonly string[]): Fault {
  if (!isJsonObject(part)) return faultAt('', 'must be an object');
  const { type } = part;
  if (typeof type !== 'string' || !types.includes(type)) {
    return faultAt('.type', `must be one of ${types.join(', ')} here`);
  }
  if (type === 'input_image') return imagePartFault(part);
  return stringFault(part, type === 'refusal' ? 'refusal' : 'text');
}

function imagePartFault({ image_url: url, file_id: file, detail }: JsonObject): Fault {
  if (file !== undefined && file !== null) {
    return faultAt('.file_id', 'is not offered here: there is no store of files');
  }
  const fault = imageFault(url, detail);
  return fault && faultAt(fault[0] === 'url' ? '.image_url' : '.detail', fault[1]);
}

function reasoningFault({ summary, content, encrypted_content: sealed }: JsonObject): Fault {
  for (const [name, list] of Object.entries({ summary, content })) {
    if (list === undefined || list === null) continue;
    if (!Array.isArray(list) || !list.every(isText)) {
      return faultAt(`.${name}`, 'must be an array of parts with a text');
    }
  }
  if (sealed === undefined || sealed === null || typeof sealed === 'string') return undefined;
  return faultAt('.encrypted_content', 'must be a text');
}

const isText = (part: unknown): boolean => isJsonObject(part) && typeof part.text === 'string';

function textFault(item: JsonObject, ...names: readonly string[]): Fault {
  const name = names.find((one) => !isLabel(item[one]));
  return name === undefined
    ? undefined
    : faultAt(`.${name}`, `must be 1 to ${MAX_LABEL} characters`);
}

const isLabel = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= MAX_LABEL;

function stringFault(item: JsonObject, name: string): Fault {
  return typeof item[name] === 'string' ? undefined : faultAt(`.${name}`, 'must be a text');
}
