import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import type { ErrorCode } from '../errors/error-table.js';
import { textFault, type TextRule } from './text-rule.js';

/** An inclusive range. */
interface Range {
  readonly min: number;
  readonly max: number;
}

/** Options of every field decorator, in addition to its own rule. */
export interface FieldOptions {
  /** Absent and null are valid (decision G-03). A required field has neither this nor `default`. */
  readonly optional?: true;
  /** The value of an absent field; makes the field optional. */
  readonly default?: unknown;
  /** The field is an array with this number of values, each under the rule. */
  readonly list?: Range;
  /** Error code of every fault of the field; by default the endpoint's code. */
  readonly code?: ErrorCode;
  /** Error code of an absent or empty field; by default `code`. */
  readonly missingCode?: ErrorCode;
  readonly description?: string;
  readonly example?: unknown;
}

/** What the decorators store in class-validator's `context` for the compiled validator and the error text. */
export interface FieldContext {
  readonly code?: ErrorCode;
  readonly default?: unknown;
  readonly nested?: () => Dto;
  /** The path of the error within a rejected value, such as `.3.function.name`; see {@link Examined}. */
  readonly pathOf?: (value: unknown) => string;
}

/** An error in a part of a value. */
export interface PartFault {
  /** The path of the part, such as `.3.function.name`; empty for the value itself. */
  readonly at: string;
  /** The end of the error message, such as `must be an object`. */
  readonly says: string;
}

/** A request class. */
export type Dto<T extends object = object> = new () => T;

/** Text of bounded length; see `TextRule`. */
export function Text(options: TextRule & FieldOptions): PropertyDecorator {
  const { missingCode, blank, max, min = blank === 'allowed' ? 0 : 1 } = options;
  const filled = ValidateBy(
    { name: 'filled', validator: { validate: (value) => value !== '' } },
    fault('must not be empty', options, missingCode),
  );
  const faultOf = (value: unknown) => textFault(value, options);
  const text = ValidateBy(
    { name: 'text', validator: { validate: (value) => faultOf(value) === undefined } },
    {
      ...fault('', options),
      message: ({ value }) => `$property ${faultOf(value) ?? 'must be a string'}`,
    },
  );
  const api = { type: String, minLength: min, maxLength: max };
  return field(min > 0 ? [filled, text] : [text], options, api);
}

/** The id of a model. The catalog decides whether it is known. */
export function ModelId(options: FieldOptions = {}): PropertyDecorator {
  return Text({ max: 200, description: 'Model id, see GET /v1/models', ...options });
}

/** A whole number in an inclusive range; 5.0 counts as 5 (decision G-03). */
export function Int(options: Range & FieldOptions): PropertyDecorator {
  const { min, max } = options;
  const says = min === max ? `must be ${min}` : `must be a whole number from ${min} to ${max}`;
  const rejection = fault(says, options);
  const api = { type: 'integer', minimum: min, maximum: max } as const;
  return field([IsInt(rejection), Min(min, rejection), Max(max, rejection)], options, api);
}

/** A number in an inclusive range. With `decimals`, at most this many decimal places. */
export function Num(
  options: Range & { readonly decimals?: number } & FieldOptions,
): PropertyDecorator {
  const { min, max, decimals } = options;
  const precision = decimals === undefined ? '' : ` with at most ${decimals} decimals`;
  const rejection = fault(`must be a number from ${min} to ${max}${precision}`, options);
  const api = { type: Number, minimum: min, maximum: max };
  const rules = [IsNumber({}, rejection), Min(min, rejection), Max(max, rejection)];
  return field(
    decimals === undefined ? rules : [...rules, Decimals(decimals, rejection)],
    options,
    api,
  );
}

/** class-validator's `maxDecimalPlaces` throws for a number that is written with an exponent, such as 1e-7. */
function Decimals(most: number, rejection: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown) =>
    typeof value === 'number' && Number(value.toFixed(most)) === value;
  return ValidateBy({ name: 'decimals', validator: { validate } }, rejection);
}

/** One of several fixed values, case-sensitive. `hint` is added to the error message: words of other APIs for the same. */
export function Enum(
  words: readonly string[],
  options: FieldOptions & { readonly hint?: string } = {},
): PropertyDecorator {
  const hint = options.hint === undefined ? '' : ` (${options.hint})`;
  const rejection = fault(`must be ${oneOfWords(words)}${hint}`, options);
  return field([IsIn(words, rejection)], options, { type: String, enum: [...words] });
}

/** The values as the end of the sentence 'field must be …'. */
export function oneOfWords(words: readonly string[]): string {
  return words.length === 1 ? String(words[0]) : `one of ${words.join(', ')}`;
}

/** A field with one accepted value, which is the default behaviour: it is not forwarded (decision G-02). */
export function DoneAnyway(value: string | number | boolean): PropertyDecorator {
  const options = { optional: true, description: 'Names what is done anyway' } as const;
  const rejection = fault(`must be ${value}`, options);
  const only = IsIn([value], rejection);
  const api = { enum: [value] };
  // The type is a rule of its own, by which the texts of a form are converted.
  if (typeof value === 'string') return field([only], options, { type: String, ...api });
  return typeof value === 'boolean'
    ? field([IsBoolean(rejection), only], options, { type: Boolean, ...api })
    : field([IsNumber({}, rejection), only], options, { type: Number, ...api });
}

/** true or false. */
export function Bool(options: FieldOptions = {}): PropertyDecorator {
  return field([IsBoolean(fault('must be true or false', options))], options, { type: Boolean });
}

/** A string that matches; `says` ends the sentence 'field …' of the error message. */
export function Pattern(
  pattern: RegExp,
  says: string,
  options: FieldOptions = {},
): PropertyDecorator {
  const api = { type: String, pattern: pattern.source };
  return field([Matches(pattern, fault(says, options))], options, api);
}

/** An ISO 639 code, two or three lowercase letters (decision G-40). */
export function LanguageCode(options: FieldOptions = {}): PropertyDecorator {
  const says = 'must be an ISO 639 code of two or three lowercase letters';
  return Pattern(/^[a-z]{2,3}$/, says, { example: 'en', ...options });
}

/** An object (or, with `list`, objects) of another request class, whose fields are checked. */
export function Nested(type: () => Dto, options: FieldOptions = {}): PropertyDecorator {
  const rejection = fault('must be an object', options);
  // Not typed by class-transformer: the compiled validator makes the instances.
  const context: FieldContext = { nested: type };
  const nested = ValidateNested({ ...rejection, context });
  // Nest Swagger treats a function as a lazy type only if its name is `type`.
  return field([IsObject(rejection), nested], options, { type: () => type() });
}

/** Anything that a predicate accepts, for values that no other decorator describes; `says` as in `Pattern`. */
export function Custom(
  holds: (value: unknown) => boolean,
  says: string,
  options: FieldOptions & { readonly api?: ApiPropertyOptions } = {},
): PropertyDecorator {
  const check = ValidateBy(
    { name: 'checked', validator: { validate: holds } },
    fault(says, options),
  );
  return field([check], options, options.api ?? { type: Object });
}

/** A value of many parts; the message and `param` of an error name the part in which `faultOf` finds it. */
export function Examined(
  faultOf: (value: unknown) => PartFault | undefined,
  options: FieldOptions & { readonly api?: ApiPropertyOptions } = {},
): PropertyDecorator {
  const rejection = fault('', options);
  const context: FieldContext = {
    ...(rejection.context as FieldContext),
    pathOf: (value) => faultOf(value)?.at ?? '',
  };
  const check = ValidateBy(
    { name: 'examined', validator: { validate: (value) => faultOf(value) === undefined } },
    {
      ...rejection,
      context,
      message: ({ value }) => {
        const { at = '', says = 'must be valid' } = faultOf(value) ?? {};
        return `$property${at} ${says}`;
      },
    },
  );
  return field([check], options, options.api ?? { type: Object });
}

/** The message and code with which class-validator reports a broken rule of the field. */
function fault(says: string, options: FieldOptions, code = options.code): ValidationOptions {
  const context: FieldContext = code === undefined ? {} : { code };
  return { message: `$property ${says}`, context, each: options.list !== undefined };
}

function field(
  rules: readonly PropertyDecorator[],
  options: FieldOptions,
  api: ApiPropertyOptions,
): PropertyDecorator {
  const { list, description, example, missingCode } = options;
  const isOptional = options.optional ?? options.default !== undefined;
  const context: FieldContext = { default: options.default };
  const documented = {
    ...api,
    required: !isOptional,
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...(options.default !== undefined && { default: options.default }),
    ...(list && { isArray: true, minItems: list.min, maxItems: list.max }),
  } as ApiPropertyOptions;
  return applyDecorators(
    isOptional
      ? IsOptional({ context })
      : IsDefined({ ...fault('is required', options, missingCode), each: false }),
    ...(list ? listRules(list, options) : []),
    ...rules,
    ApiProperty(documented),
  );
}

function listRules({ min, max }: Range, options: FieldOptions): PropertyDecorator[] {
  const says = `must be an array of ${min === max ? min : `${min} to ${max}`} value${max === 1 ? '' : 's'}`;
  const rejection = { ...fault(says, options), each: false };
  return [IsArray(rejection), ArrayMinSize(min, rejection), ArrayMaxSize(max, rejection)];
}
