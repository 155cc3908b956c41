import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import {
  checkOf,
  eitherOf,
  formed,
  holding,
  mapped,
  shaped,
  type VendorCheck,
} from './vendor-checks.js';
import { checkPath, MAX_ENTRIES } from './vendor-field-checks.js';
import {
  ALL_FIELDS,
  ASKED_FIELDS,
  SCALAR_FIELDS,
  type VendorField,
  type VendorOperation,
} from './vendor-fields.js';
import { fieldsIn, MARK } from './vendor-template.js';

/** Nesting of a body. */
const MAX_DEPTH = 12;
const MAX_TABLE = 200;
const CASTS = ['string', 'integer', 'number', 'boolean'] as const;
const INLINES = ['data_url', 'base64'] as const;

/** Where the schema of a part of a body stands; the second is that within `$each`. */
const PART = 'part';
const ITEM_PART = 'item_part';

const checkScalar = holding(
  (value) => ['string', 'number', 'boolean'].includes(typeof value),
  'a text, a number or a boolean',
  { type: ['string', 'number', 'boolean'] },
);

/** The check of a part that may name these fields. */
class PartCheck {
  private readonly operators: Readonly<Record<string, VendorCheck>>;
  private readonly isField: VendorCheck;
  readonly schema: JsonObject;
  /** That of a text or one value with a cast. */
  readonly valueSchema: JsonObject;

  constructor(fields: readonly VendorField[], own: string, item: () => PartCheck) {
    this.isField = eitherOf(fields);
    this.operators = {
      $field: shaped({
        $field: this.isField,
        'as?': eitherOf(CASTS),
        'table?': mapped(formed(/^[\s\S]{1,200}$/, 'a value of the field'), checkScalar, MAX_TABLE),
      }),
      $inline: shaped({
        $inline: among(
          fields.filter((field) => /_frame_url$|^item$/.test(field)),
          'an image',
        ),
        as: eitherOf(INLINES),
      }),
      $each: shaped({
        $each: among(
          fields.filter((field) => field === 'image_urls'),
          'a list',
        ),
        item: checkOf(refTo(ITEM_PART), (value, at, faults) => {
          item().check(value, at, faults);
        }),
      }),
    };
    this.schema = this.schemaOf(fields, own);
    this.valueSchema = { anyOf: [textSchema(fields), this.operators.$field?.schema] };
  }

  check(part: unknown, at: string, faults: string[]): void {
    if (at.split('.').length > MAX_DEPTH + 2) {
      faults.push(`${at}: must not nest deeper than ${MAX_DEPTH} levels`);
    } else if (typeof part === 'string') this.checkText(part, at, faults);
    else if (Array.isArray(part)) {
      part.forEach((entry, index) => {
        const isEach = isJsonObject(entry) && '$each' in entry;
        if (isEach) this.operators.$each?.(entry, `${at}.${index}`, faults);
        else this.check(entry, `${at}.${index}`, faults);
      });
    } else if (isJsonObject(part)) this.checkObject(part, at, faults);
  }

  private checkText(text: string, at: string, faults: string[]): void {
    for (const [, name] of text.matchAll(MARK)) this.isField(name, `${at}: {{${name}}}`, faults);
    const rest = text.replaceAll(MARK, ' ');
    if (rest.includes('{{') || rest.includes('}}'))
      faults.push(`${at}: has a brace without its pair`);
  }

  private checkObject(part: JsonObject, at: string, faults: string[]): void {
    const operator = Object.keys(part).find((key) => key.startsWith('$'));
    if (operator === undefined) {
      for (const [key, value] of Object.entries(part)) this.check(value, `${at}.${key}`, faults);
      return;
    }
    const check = Object.hasOwn(this.operators, operator) ? this.operators[operator] : undefined;
    if (operator === '$each') faults.push(`${at}.$each: stands only in a list`);
    else if (check) check(part, at, faults);
    else faults.push(`${at}.${operator}: is none of ${Object.keys(this.operators).join(', ')}`);
  }

  private schemaOf(fields: readonly VendorField[], own: string): JsonObject {
    const { $field, $inline, $each } = this.operators;
    const plain = {
      type: 'object',
      propertyNames: { pattern: '^(?!\\$)' },
      additionalProperties: refTo(own),
    };
    return {
      anyOf: [
        { type: ['number', 'boolean', 'null'] },
        textSchema(fields),
        { type: 'array', items: { anyOf: [$each?.schema, refTo(own)] } },
        $field?.schema,
        $inline?.schema,
        plain,
      ],
    };
  }
}

function textSchema(fields: readonly VendorField[]): JsonObject {
  const mark = `\\{\\{(?:${fields.join('|')})\\}\\}`;
  return {
    type: 'string',
    pattern: `^(?:${mark}|\\{(?=${mark})|(?!\\{\\{|\\}\\})[\\s\\S])*$`,
  };
}

const refTo = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });

/** One of these fields, of which an operation may have none. */
const among = (fields: readonly VendorField[], what: string): VendorCheck =>
  fields.length > 0
    ? eitherOf(fields)
    : holding(() => false, `absent: no field of the operation is ${what}`, {});

/** The check of a part outside of `$each`, and within it, where `item` is a field too. */
function partChecks(fields: readonly VendorField[]) {
  const within: PartCheck = new PartCheck([...fields, 'item'], ITEM_PART, () => within);
  return { within, outside: new PartCheck(fields, PART, () => within) };
}

const ANY_PART = partChecks(ALL_FIELDS);
const SCALAR = partChecks(SCALAR_FIELDS).outside;

/** What the schemas of templates refer to: those of all operations. */
export const TEMPLATE_DEFINITIONS: JsonObject = {
  [PART]: ANY_PART.outside.schema,
  [ITEM_PART]: ANY_PART.within.schema,
};

/** Checks the template of a body for the operation. */
export function checkTemplate(operation: VendorOperation): VendorCheck {
  const { outside } = partChecks(ASKED_FIELDS[operation]);
  return checkOf({ type: 'object', ...refsOfBody() }, (value, at, faults) => {
    if (!isJsonObject(value)) {
      faults.push(`${at}: must be a JSON object`);
      return;
    }
    const before = faults.length;
    outside.check(value, at, faults);
    const isWithout = !fieldsIn(value).includes('prompt');
    if (faults.length === before && isWithout) faults.push(`${at}: must hold {{prompt}}`);
  });
}

function refsOfBody(): JsonObject {
  return { propertyNames: { pattern: '^(?!\\$)' }, additionalProperties: refTo(PART) };
}

/** Checks what stands at paths of a job that is ours. */
export const checkSame = mapped(
  checkPath,
  checkOf(SCALAR.valueSchema, (value, at, faults) => {
    const isValue = typeof value === 'string' || (isJsonObject(value) && '$field' in value);
    if (isValue) SCALAR.check(value, at, faults);
    else faults.push(`${at}: must be a text, or a value with a cast ({"$field": …})`);
  }),
  MAX_ENTRIES,
);
