import { getMetadataStorage, IS_OPTIONAL } from 'class-validator';
import type { Dto } from './fields.js';

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const NUMBER_RULES = ['isInt', 'isNumber'];

/** Whether the class declares the field as a list. */
export function isListField(dto: Dto, field: string): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .some(({ propertyName, name }) => propertyName === field && name === 'isArray');
}

/** As JavaScript and as Python write them. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
]);

type Texts = Readonly<Record<string, string | readonly string[]>>;

/**
 * The text fields of a multipart form as a JSON body; see {@link jsonOfTexts}. An optional field that is empty is omitted:
 * tools that cannot leave a field out send it empty.
 */
export function jsonOfForm(dto: Dto, form: Texts): Record<string, unknown> {
  const has = rulesOf(dto);
  const isOmitted = (field: string, sent: string | readonly string[]): boolean =>
    has(field, [IS_OPTIONAL]) && [sent].flat().every((text) => text === '');
  return jsonOfTexts(
    dto,
    Object.fromEntries(Object.entries(form).filter(([field, sent]) => !isOmitted(field, sent))),
  );
}

/**
 * Texts by the name of their field, converted by the declared type of each field: `true` and `True` become booleans,
 * JSON numbers become numbers, and text stays text, even `42` (decision G-41). Text that cannot be converted (`yes`)
 * stays text, which the validator rejects. A list field may be sent once or several times. The result is for
 * `CompiledValidator.parse`.
 */
export function jsonOfTexts(dto: Dto, texts: Texts): Record<string, unknown> {
  const has = rulesOf(dto);
  const convert = (field: string, text: string): unknown => {
    if (has(field, NUMBER_RULES) && JSON_NUMBER.test(text)) return Number(text);
    return has(field, ['isBoolean']) ? (BOOLEANS.get(text) ?? text) : text;
  };
  const valueOf = (field: string, sent: string | readonly string[]): unknown => {
    const isList = has(field, ['isArray']);
    if (typeof sent === 'string' && !isList) return convert(field, sent);
    return [sent].flat().map((text) => convert(field, text));
  };
  // fromEntries defines own properties, so a part named __proto__ stays an unknown field.
  return Object.fromEntries(
    Object.entries(texts).map(([field, sent]) => [field, valueOf(field, sent)]),
  );
}

/** Whether a field of the class has one of the rules. */
function rulesOf(dto: Dto): (field: string, names: readonly string[]) => boolean {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return (field, names) =>
    rules.some(({ propertyName, name = '' }) => propertyName === field && names.includes(name));
}
