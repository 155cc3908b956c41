import { GatewayError } from '../errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../json-object.js';
import {
  type CompiledValidator,
  type Fault,
  faultUnder,
  rejection,
  validatorOf,
} from './compiled-validator.js';
import type { Dto } from './fields.js';

const CODE = 'invalid_request';
type Validator = CompiledValidator<object>;

/**
 * Every fault of a body, of each value the first: for a file that people write. `CompiledValidator.parse`, for requests, stops at
 * the first of all. Empty for a valid body.
 */
export function everyFault<T extends object>(dto: Dto<T>, body: unknown): GatewayError[] {
  if (!isJsonObject(body)) return [new GatewayError(CODE, 'It must be a JSON object.')];
  const validator = validatorOf(dto) as Validator;
  const unknown = [...unknownFields(validator, body)].map(
    (path) => new GatewayError(CODE, `${path} is not a field here.`, { param: path }),
  );
  const faults = [...faultsOf(validator, validator.instance(body))];
  return [...unknown, ...faults.map((fault) => rejection(fault, CODE))];
}

function* unknownFields({ fields }: Validator, body: JsonObject): Generator<string> {
  for (const [name, value] of Object.entries(body)) {
    const field = fields.find((known) => known.name === name);
    if (field === undefined) yield name;
    if (field?.nested === undefined) continue;
    for (const [place, item] of placesOf(value)) {
      if (!isJsonObject(item)) continue;
      for (const inner of unknownFields(field.nested, item)) yield `${name}${place}.${inner}`;
    }
  }
}

function* faultsOf({ fields }: Validator, dto: object): Generator<Fault> {
  for (const { name, conditions, rules, nested } of fields) {
    const value = (dto as JsonObject)[name];
    if (!conditions.every((applies) => applies(value, dto))) continue;
    const own = rules
      .map((rule) => faultUnder(rule, name, value, dto))
      .find((fault) => fault !== undefined);
    if (own !== undefined) yield own;
    if (nested === undefined) continue;
    for (const [place, item] of placesOf(value)) {
      if (!isJsonObject(item)) continue;
      for (const inner of faultsOf(nested, item)) {
        yield { ...inner, path: `${name}${place}.${inner.path}` };
      }
    }
  }
}

/** The items of a list with their places, such as `.1`; else the value itself. */
function placesOf(value: unknown): (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [['', value]];
  return value.map((item: unknown, index) => [`.${index}`, item] as const);
}
